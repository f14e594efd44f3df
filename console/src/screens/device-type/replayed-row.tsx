// Replayed uplink: its payload, the samples as stored and as the edited decoder makes them, side by side.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { DiffBlock } from './diff-block.tsx';
import { useEditedType } from './edited-type.tsx';
import { type DiffLine, diffLines, linesOf } from './json-lines.ts';
import styles from './replay.module.css';
import { namesOfDevices, type ReplayedUplink } from './replay-requests.ts';
import type { Verdict } from './replay-search.ts';
import { replayWords } from './replay-words.ts';

const tones: Readonly<Record<Verdict, Tone>> = {
  SAME: 'ok',
  DIFFERENT: 'warn',
  ERROR: 'bad',
  UNKNOWN: 'plain',
};

interface ReplayedRowProps {
  readonly uplink: ReplayedUplink;
  /** All devices of the list, whose names are asked for at once. */
  readonly deviceIds: readonly string[];
  readonly isOpen: boolean;
}

export function ReplayedRow({ uplink, deviceIds, isOpen: isOpenAtFirst }: ReplayedRowProps) {
  const words = useWords(replayWords);
  const formats = useFormats();
  const { workspaceId } = useEditedType();
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const names = useQuery(namesOfDevices(workspaceId, deviceIds)).data;
  const { deviceId, timestamp, verdict, payload } = uplink;
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <Chip tone={tones[verdict]}>{words.verdicts[verdict]}</Chip>
          <b>{names?.get(deviceId) ?? deviceId}</b>
          <span className="num mute">{formats.instant(timestamp)}</span>
          <span className={styles['payload']}>{JSON.stringify(payload)}</span>
        </summary>
        {isOpen && <Sides uplink={uplink} />}
      </details>
    </li>
  );
}

function Sides({ uplink: { oldSamples, newSamples, notes } }: Pick<ReplayedRowProps, 'uplink'>) {
  const words = useWords(replayWords);
  const lines = diffLines(linesOf(oldSamples ?? []), linesOf(newSamples));
  const without = (kind: DiffLine['kind']) => lines.filter((line) => line.kind !== kind);
  return (
    <>
      {notes.map(({ level, message }) => (
        <p key={message} className={level === 'ERROR' ? styles['error'] : styles['note']}>
          {message}
        </p>
      ))}
      <div className={styles['sides']}>
        <section>
          <h3>{words.storedSamples}</h3>
          {oldSamples === null ? (
            <p className="mute">{words.unknownNote}</p>
          ) : (
            <DiffBlock lines={without('new')} label={words.storedSamples} />
          )}
        </section>
        <section>
          <h3>{words.newSamples}</h3>
          <DiffBlock lines={without('gone')} label={words.newSamples} />
        </section>
      </div>
    </>
  );
}
