// A device that was just registered: how it sends its first reading, and where to go from here.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CodeBlock } from '../../parts/states.tsx';
import { useWords } from '../../words/language.tsx';
import styles from './devices.module.css';
import { registerWords } from './register-words.ts';

interface NewDevice {
  readonly id: string;
  readonly name: string;
  readonly deviceId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string;
}

interface RegisteredProps {
  readonly device: NewDevice;
  readonly another: () => void;
}

export function Registered({ device, another }: RegisteredProps) {
  const words = useWords(registerWords);
  const connector = useConnector(device.dataFlowId);
  const secret = connector?.uplinkSecret ?? undefined;
  const { workspaceId, deviceId } = device;
  return (
    <Card title={words.registered(device.name)} isPadded>
      <div className={styles['form']} role="status">
        {connector !== undefined && secret === undefined && <p>{words.noSecret}</p>}
        {connector !== undefined && secret !== undefined && (
          <FirstReading connectivity={connector.connectivity} secret={secret} deviceId={deviceId} />
        )}
        <div className={styles['formEnd']}>
          <Link to="/w/$workspaceId/devices" params={{ workspaceId }} search={{ q: deviceId }}>
            {words.list}
          </Link>
          <Button onClick={another}>{words.another}</Button>
          <ButtonLink
            look="primary"
            to="/w/$workspaceId/devices/$deviceId"
            params={{ workspaceId, deviceId: device.id }}
          >
            {words.open}
          </ButtonLink>
        </div>
      </div>
    </Card>
  );
}

function useConnector(id: string) {
  const flow = useQuery({
    queryKey: ['flow', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/data-flows/{id}', { signal, params: { path: { id } } })),
  });
  return flow.data?.deviceConnector;
}

interface FirstReadingProps {
  readonly connectivity: string;
  readonly secret: string;
  readonly deviceId: string;
}

function FirstReading({ connectivity, secret, deviceId }: FirstReadingProps) {
  const words = useWords(registerWords);
  const said = { MQTT: words.mqttTopic, COAP: words.coapPath }[connectivity] ?? words.firstReading;
  const code = firstReading({ connectivity, secret, deviceId }, location.origin);
  return (
    <>
      <p>{said}</p>
      <CodeBlock code={code} />
      <div>
        <CopyButton content={code} />
      </div>
    </>
  );
}

/** What a terminal or the device needs to send a reading (contract 17, 18). */
function firstReading(
  { connectivity, secret, deviceId }: FirstReadingProps,
  origin: string,
): string {
  const id = encodeURIComponent(deviceId);
  if (connectivity === 'MQTT') return `/up/${secret}/id/${deviceId}`;
  if (connectivity === 'COAP')
    return `/v3/capture?secret=${encodeURIComponent(secret)}&deviceId=${id}`;
  const address = `${origin}/v3/capture?secret=${encodeURIComponent(secret)}&deviceId=${id}`;
  return `curl -sS '${address.replaceAll("'", '%27')}' -H 'content-type: application/json' -d '{"temperature": 21.5}'`;
}
