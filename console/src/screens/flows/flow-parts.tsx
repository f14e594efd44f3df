// Parts of flow pages: health, secrets, sample values, and the flows that use a record.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { Ago } from '../../ui/ago.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dot, type DotTone } from '../../ui/chip.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ListBones } from '../../ui/paged-list.tsx';
import { Answered, Empty } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { connectorWords } from './connector-words.ts';
import { flowHealthOf, type FlowItem } from './flow-requests.ts';
import { flowsWords } from './flows-words.ts';
import styles from './flows.module.css';

interface UsedByProps {
  readonly workspaceId: string;
  readonly connectorId: string;
}

/** Data flows that begin with the connector. */
export function useFlowsWith({ workspaceId, connectorId }: UsedByProps) {
  return useQuery({
    ...flowHealthOf(workspaceId),
    select: (flows) => flows.filter(({ deviceConnector }) => deviceConnector.id === connectorId),
  });
}

export function UsedBy({ workspaceId, connectorId }: UsedByProps) {
  const words = useWords(connectorWords);
  const lists = useWords(flowsWords);
  const flows = useFlowsWith({ workspaceId, connectorId });
  const path = `/v3/data-flows?workspaceId=${workspaceId}&details=health`;
  return (
    <Card title={words.usedBy} note={lists.usedByNote}>
      <Answered answer={flows} curl={{ path }} skeleton={<ListBones rows={2} />}>
        {(used) =>
          used.length === 0 ? (
            <Empty
              title={words.unused}
              note={words.unusedNote}
              actions={
                <ButtonLink to="/w/$workspaceId/flows/new" params={{ workspaceId }}>
                  {words.newFlow}
                </ButtonLink>
              }
            />
          ) : (
            <ul className={`divided ${styles['users']}`}>
              {used.map(({ id, name, health }) => (
                <li key={id}>
                  <Link to="/w/$workspaceId/flows/$flowId" params={{ workspaceId, flowId: id }}>
                    {name}
                  </Link>
                  <FlowHealth health={health ?? null} />
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Card>
  );
}

// Secret value: dots until it is asked for, and a button that copies it without showing it.

interface SecretValueProps {
  readonly secret: string;
  /** Part of an address around the secret, such as `https://host/path?secret=`. */
  readonly before?: string;
  readonly words: { readonly show: string; readonly hide: string; readonly copy: string };
}

const mask = '••••••••';

export function SecretValue({ secret, before = '', words }: SecretValueProps) {
  const [isShown, setShown] = useState(false);
  return (
    <span className={`row gap-4 shrinks ${styles['secret']}`}>
      <code className="mono">{before + (isShown ? secret : mask)}</code>
      <Button
        look="ghost"
        isIcon
        aria-pressed={isShown}
        aria-label={isShown ? words.hide : words.show}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? <EyeOff aria-hidden="true" /> : <Eye aria-hidden="true" />}
      </Button>
      <CopyButton content={before + secret} label={words.copy} />
    </span>
  );
}

// Sample values: the first few values of a sample, each with its key.

const valuesMax = 4;

export function SampleValues({ data }: { readonly data: Readonly<Record<string, unknown>> }) {
  const formats = useFormats();
  const values = Object.entries(data).filter(([, value]) => typeof value !== 'object');
  return (
    <span className="flow wrap gap-y-2 gap-x-14">
      {values.slice(0, valuesMax).map(([key, value]) => (
        <span key={key}>
          <span className="faint">{key}</span>{' '}
          <b className="num">{typeof value === 'number' ? formats.value(value) : String(value)}</b>
        </span>
      ))}
    </span>
  );
}

// Health of data flows in words: how many devices they have and when the last sample arrived.

interface Health {
  readonly deviceCount: number;
  readonly lastSampleAt: string | null;
}

/** Null without the permission to read devices. */
export function FlowHealth({ health }: { readonly health: Health | null }) {
  const words = useWords(flowsWords);
  const { count } = useFormats();
  if (health === null) return <span className="faint">{words.notShown}</span>;
  const { deviceCount, lastSampleAt } = health;
  return (
    <span className="flow align-baseline inline gap-8">
      <Dot tone={toneOf(health)} />
      {deviceCount === 0 ? (
        words.noDevices
      ) : (
        <span>
          {words.devices(count(deviceCount), deviceCount)},{' '}
          {lastSampleAt === null ? (
            words.silent
          ) : (
            <>
              {words.last} <Ago at={lastSampleAt} />
            </>
          )}
        </span>
      )}
    </span>
  );
}

function toneOf({ deviceCount, lastSampleAt }: Health): DotTone {
  if (deviceCount === 0) return 'off';
  return lastSampleAt === null ? 'warn' : 'ok';
}

/** Of several flows together; null when one of them is not shown. */
export function healthOfAll(flows: readonly Pick<FlowItem, 'health'>[]): Health | null {
  let deviceCount = 0;
  let lastSampleAt: string | null = null;
  for (const { health } of flows) {
    if (health === null || health === undefined) return null;
    deviceCount += health.deviceCount;
    if (health.lastSampleAt !== null && health.lastSampleAt > (lastSampleAt ?? ''))
      ({ lastSampleAt } = health);
  }
  return { deviceCount, lastSampleAt };
}
