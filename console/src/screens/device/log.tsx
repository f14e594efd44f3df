// Processing log of a device: what its uplinks, scripts, outputs and rules noted, by level.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Card } from '../../ui/card.tsx';
import { Chip, type Tone } from '../../ui/chip.tsx';
import { Segments } from '../../ui/choice.tsx';
import { Answered, CodeBlock, Empty } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { OlderButton, olderRows, RowBones, useOlder } from './older-rows.tsx';
import { useDeviceFrame } from './device-frame.ts';
import { deviceRoute, levelNames } from './device-search.ts';
import { logWords } from './device-words.ts';
import styles from './notes.module.css';

type Entry = components['schemas']['ProcessingLogEntry'];

const tones: Readonly<Record<Entry['level'], Tone>> = { INFO: 'plain', WARN: 'warn', ERROR: 'bad' };

export function Log() {
  const words = useWords(logWords);
  const formats = useFormats();
  const { device } = useDeviceFrame();
  const { level } = useSearch({ from: deviceRoute });
  const path = `/v3/devices/${device.id}/processing-logs`;
  const query = { size: olderRows, ...(level === undefined ? {} : { level }) };
  const entries = useOlder(['log', device.id, level], (page, signal) =>
    ask(
      platform.GET('/v3/devices/{id}/processing-logs', {
        signal,
        params: { path: { id: device.id }, query: { ...query, page } },
      }),
    ),
  );
  const total = entries.total ?? 0;
  const curl = { path: `${path}${level === undefined ? '' : `?level=${level}`}` };
  return (
    <Card
      title={words.title}
      note={words.count(formats.count(total), total)}
      actions={<LevelChoice />}
    >
      <Answered answer={entries.answer} curl={curl} skeleton={<RowBones />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={words.empty} note={words.emptyNote} />
          ) : (
            <ul className="divided" aria-label={words.title}>
              {rows.map((entry) => (
                <EntryRow key={entry.id} entry={entry} />
              ))}
            </ul>
          )
        }
      </Answered>
      <OlderButton {...entries} />
    </Card>
  );
}

function LevelChoice() {
  const words = useWords(logWords);
  const { level } = useSearch({ from: deviceRoute });
  const navigate = useNavigate();
  return (
    <Segments
      label={words.level}
      options={[
        { value: 'all' as const, label: words.all },
        ...levelNames.map((value) => ({ value, label: words.levels[value] })),
      ]}
      value={level ?? 'all'}
      choose={(chosen) =>
        void navigate({
          to: '.',
          search: ({ level: _, ...kept }) => (chosen === 'all' ? kept : { ...kept, level: chosen }),
          replace: true,
        })
      }
    />
  );
}

function EntryRow({ entry }: { readonly entry: Entry }) {
  const words = useWords(logWords);
  const formats = useFormats();
  const { device, zone } = useDeviceFrame();
  const { level, source, message, timestamp, correlationId, details } = entry;
  return (
    <li>
      <details className={styles['row']}>
        <summary>
          <time className="faint num" dateTime={timestamp}>
            {formats.instant(timestamp, zone)}
          </time>
          <Chip tone={tones[level]}>{words.levelOne[level]}</Chip>
          <span className="rigid mute">{words.sources[source]}</span>
          <span className={`shrinks breaks ${styles['message']}`}>{message}</span>
        </summary>
        <div className={styles['more']}>
          <CodeBlock code={JSON.stringify({ message, correlationId, ...details }, null, 2)} />
          {(source === 'UPLINK' || source === 'SCRIPT') && (
            <Link
              className="info underlined"
              to="/w/$workspaceId/devices/$deviceId/uplinks"
              params={{ workspaceId: device.workspaceId, deviceId: device.id }}
              search={{ at: timestamp }}
            >
              {words.toUplink}
            </Link>
          )}
        </div>
      </details>
    </li>
  );
}
