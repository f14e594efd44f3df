// MQTT revocation: a change ends the connections that it concerns, and makes no work for those of another tenant.
import { expect, test } from 'vitest';
import type { ChangedRecord, RecordChange } from '../../model/record.ts';
import type { MqttBroker } from './mqtt-broker.ts';
import type { LoginParts } from './mqtt-login.ts';
import { MqttRevocation } from './mqtt-revocation.ts';
import type { MqttSession } from './mqtt-session.ts';

const identity = { mode: 'secret', connectorId: 'c', organizationId: 'o', secret: 's' } as const;
const session = { identity, subscriptions: new Map() } as unknown as MqttSession;

function about(organizationId: string): ChangedRecord {
  const by = { type: 'USER', id: 'u', name: 'u' } as const;
  return { organizationId, workspaceId: 'w', leftWorkspaceId: null, name: 'n', by };
}

/** How often a change has the connection checked, and why it was ended. */
async function effectOf(change: RecordChange) {
  const ended: string[] = [];
  let checks = 0;
  const broker = {
    sessions: new Set([session]),
    end: (_: MqttSession, because: string) => void ended.push(because),
  };
  const findConnector = async () => {
    checks += 1;
    return undefined;
  };
  const revocation = new MqttRevocation(
    () => broker as unknown as MqttBroker,
    { findConnector } as unknown as LoginParts,
    () => Promise.reject(new Error('no subscription')),
    (error) => expect.fail(String(error)),
  );
  revocation.recordChanged(change);
  await revocation.settled();
  return { checks, ended };
}

const gone = ['the device connector or its secret was deleted'];

test.each<[RecordChange, readonly string[]]>([
  [{ kind: 'deviceConnector', id: 'c', action: 'updated' }, gone],
  [{ kind: 'deviceConnector', id: 'c', action: 'updated', about: about('o') }, gone],
  [{ kind: 'deviceConnector', id: 'another', action: 'updated', about: about('o') }, []],
  [{ kind: 'dataFlow', id: 'f', action: 'updated' }, gone],
  [{ kind: 'dataFlow', id: 'f', action: 'updated', about: about('o') }, gone],
  [{ kind: 'dataFlow', id: 'f', action: 'updated', about: about('other') }, []],
  [{ kind: 'workspace', id: 'w', action: 'deleted', about: about('o') }, gone],
  [{ kind: 'workspace', id: 'w', action: 'deleted', about: about('other') }, []],
  [{ kind: 'organization', id: 'o', action: 'deleted', about: about('o') }, gone],
  [{ kind: 'organization', id: 'other', action: 'deleted', about: about('other') }, []],
])('%j', async (change, ended) => {
  expect(await effectOf(change)).toEqual({ checks: ended.length, ended });
});
