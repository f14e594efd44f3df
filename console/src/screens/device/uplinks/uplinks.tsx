// Raw uplinks of a device: payloads as they were received, each of which can be decoded again.
import { Link, useSearch } from '@tanstack/react-router';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Card } from '../../../ui/card.tsx';
import { Answered, CodeBlock, Empty } from '../../../ui/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { olderRows, useOlder } from '../data/use-older.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { logWords } from '../log/log-words.ts';
import { OlderButton, RowBones } from '../log/note-parts.tsx';
import styles from '../log/notes.module.css';
import { DecodeAgain } from './decode-again.tsx';
import { useState } from 'react';
import { deviceRoute } from '../device-search.ts';

type RawUplink = components['schemas']['RawUplink'];

/** An uplink is received shortly before what is noted of it. */
const afterMs = 1;

export function Uplinks() {
  const words = useWords(logWords);
  const formats = useFormats();
  const { device, zone } = useDeviceFrame();
  const { at } = useSearch({ from: deviceRoute });
  const until = at === undefined ? {} : { to: new Date(Date.parse(at) + afterMs).toISOString() };
  const query = { size: olderRows, ...until };
  const uplinks = useOlder(['uplinks', device.id, at], (page, signal) =>
    ask(
      platform.GET('/v3/devices/{id}/uplinks', {
        signal,
        params: { path: { id: device.id }, query: { ...query, page } },
      }),
    ),
  );
  const total = uplinks.total ?? 0;
  const curl = { path: `/v3/devices/${device.id}/uplinks` };
  return (
    <Card
      title={words.uplinks}
      note={
        at === undefined
          ? words.uplinksCount(formats.count(total), total)
          : words.until(formats.instant(at, zone))
      }
      actions={
        at !== undefined && (
          <Link className={styles['link']} to="." search={({ at: _, ...kept }) => kept}>
            {words.newest}
          </Link>
        )
      }
    >
      <Answered answer={uplinks.answer} curl={curl} skeleton={<RowBones />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={words.noUplinks} note={words.noUplinksNote} />
          ) : (
            <ul className={styles['rows']} aria-label={words.uplinks}>
              {rows.map((uplink) => (
                <UplinkRow key={uplink.id} uplink={uplink} />
              ))}
            </ul>
          )
        }
      </Answered>
      <OlderButton {...uplinks} />
    </Card>
  );
}

function UplinkRow({ uplink }: { readonly uplink: RawUplink }) {
  const formats = useFormats();
  const { zone } = useDeviceFrame();
  const [isOpen, setOpen] = useState(false);
  const { timestamp, topic, size, payload } = uplink;
  return (
    <li>
      <details className={styles['row']} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time className="faint num" dateTime={timestamp}>
            {formats.instant(timestamp, zone)}
          </time>
          <span className={`${styles['source']} num`}>{formats.bytes(size)}</span>
          {topic !== null && <span className={styles['source']}>{topic}</span>}
          <span className={styles['payload']}>{JSON.stringify(payload)}</span>
        </summary>
        {isOpen && (
          <div className={styles['more']}>
            <CodeBlock code={JSON.stringify(uplink, null, 2)} />
            <DecodeAgain uplink={uplink} />
          </div>
        )}
      </details>
    </li>
  );
}
