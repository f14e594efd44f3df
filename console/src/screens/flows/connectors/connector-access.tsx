// Connector access: the address, the secret behind dots, and a command that sends as one of its devices.
import { useState } from 'react';
import { Card } from '../../../parts/card.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { CodeBlock } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import type { Connector } from '../flow-requests.ts';
import styles from '../flows.module.css';
import { SecretValue } from '../secret-value.tsx';
import { useServerOf } from '../send-requests.ts';
import { commandFor, webhookPath } from './connector-kinds.ts';
import { connectorWords } from './connector-words.ts';

const exampleDevice = 'DEVICE_ID';
const exampleEui = '70b3d57ed0001a2b';

export function ConnectorAccess({ connector }: { readonly connector: Connector }) {
  const words = useWords(connectorWords);
  const server = useServerOf(connector);
  const [nowMs] = useState(() => Date.now());
  const { id, uplinkSecret, authType, connectivity } = connector;
  const deviceId = server === undefined ? exampleDevice : exampleEui;
  const command = commandFor({ connector, deviceId, server, secret: undefined, nowMs });
  const copied = commandFor({
    connector,
    deviceId,
    server,
    secret: uplinkSecret ?? undefined,
    nowMs,
  });
  const copyWords = { show: words.show, hide: words.hide, copy: words.copySecret };
  const isSecret = authType === 'BASIC';
  return (
    <Card title={words.access} note={words.accessNote} isPadded>
      <div className={styles['form']}>
        <dl className={styles['facts']}>
          {connectivity === 'HTTP' || connectivity === 'LORA' ? (
            <>
              <dt>{words.address}</dt>
              <dd className="mono">{location.origin + webhookPath(connector)}</dd>
            </>
          ) : (
            <>
              <dt>{connectivity === 'MQTT' ? words.user : words.id}</dt>
              <dd className="mono">{id}</dd>
            </>
          )}
          <dt>{words.secret}</dt>
          <dd>
            {uplinkSecret === null ? (
              <span className="faint">{isSecret ? words.hidden : words.noSecret}</span>
            ) : (
              <SecretValue secret={uplinkSecret} words={copyWords} />
            )}
          </dd>
        </dl>
        {isSecret && (
          <div className={styles['code']}>
            <CodeBlock code={command} />
            <div>
              <CopyButton content={copied}>{words.copyCommand}</CopyButton>
            </div>
          </div>
        )}
      </div>
    </Card>
  );
}
