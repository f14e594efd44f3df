// Results of a run: a card for each emit, with what differs from the run before it.
import { Chip, type Tone } from '../../ui/chip.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { deviceTypeWords } from './device-type-words.ts';
import styles from './device-type.module.css';
import { type DiffLine, diffLines, linesOf } from './json-lines.ts';
import type { Emit, ScriptProblem, ScriptRun } from './script-run.ts';

interface ResultsProps {
  /** What a run shows, until there is one. */
  readonly note: string;
  readonly run: ScriptRun | undefined;
  readonly before: ScriptRun | undefined;
}

export function Results({ note, run, before }: ResultsProps) {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  if (run === undefined) return <p className="mute">{note}</p>;
  const { emits, ms, event } = run;
  return (
    <div className="stack fit gap-12">
      <p className="mute num" role="status">
        {words.results(formats.count(emits.length), emits.length, formats.count(ms))}
      </p>
      {emits.length === 0 && <p>{words.noResult}</p>}
      {paired(emits, before?.emits).map(({ key, emit, last }) => (
        <Result key={key} emit={emit} last={last} isFirstRun={before === undefined} input={event} />
      ))}
    </div>
  );
}

interface Paired {
  readonly key: string;
  readonly emit: Emit;
  /** The emit of the same type and place of the run before. */
  readonly last: Emit | undefined;
}

function paired(emits: readonly Emit[], before: readonly Emit[] = []): Paired[] {
  const counts = new Map<string, number>();
  return emits.map((emit) => {
    const place = counts.get(emit.type) ?? 0;
    counts.set(emit.type, place + 1);
    const last = before.filter(({ type }) => type === emit.type)[place];
    return { key: `${emit.type} ${place}`, emit, last };
  });
}

const tones: Readonly<Record<string, Tone>> = { ERROR: 'bad', LOG: 'plain' };

interface ResultProps {
  readonly emit: Emit;
  readonly last: Emit | undefined;
  readonly isFirstRun: boolean;
  readonly input: unknown;
}

function Result({ emit, last, isFirstRun, input }: ResultProps) {
  const words = useWords(deviceTypeWords);
  const lines = diffLines(linesOf(last?.event ?? emit.event), linesOf(emit.event));
  const isSame = lines.every(({ kind }) => kind === 'same');
  const compared = last === undefined ? words.fresh : words.changedSince;
  return (
    <section className={`stack fit gap-8 ${styles['result']}`}>
      <h3>
        <Chip tone={tones[emit.type] ?? 'sun'}>{emit.type.toLowerCase()}</Chip>
        {!isFirstRun && (
          <span className="faint">{last !== undefined && isSame ? words.asBefore : compared}</span>
        )}
      </h3>
      {emit.type === 'ERROR' ? (
        <ErrorResult problem={emit.event as Partial<ScriptProblem>} input={input} />
      ) : (
        <DiffBlock lines={lines} />
      )}
    </section>
  );
}

interface ErrorResultProps {
  readonly problem: Partial<ScriptProblem>;
  readonly input: unknown;
}

function ErrorResult({ problem: { message, line, column }, input }: ErrorResultProps) {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  return (
    <>
      <p className={styles['error']}>
        {message}
        {line !== undefined && (
          <span className="num">
            {' '}
            ({words.at(formats.count(line), formats.count(column ?? 1))})
          </span>
        )}
      </p>
      <details>
        <summary>{words.input}</summary>
        <DiffBlock lines={linesOf(input).map((text) => ({ kind: 'same', text }))} />
      </details>
    </>
  );
}

// Difference block: lines of JSON, marked with a sign and a color where they are gone or new.

const signs = { same: '', gone: '−', new: '+' } as const;

interface DiffBlockProps {
  readonly lines: readonly DiffLine[];
  /** For a screen reader, where the block is one of two. */
  readonly label?: string;
}

export function DiffBlock({ lines, label }: DiffBlockProps) {
  const name = label === undefined ? {} : { role: 'group', 'aria-label': label };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <code className={styles['diff']} tabIndex={0} {...name}>
      {lines.map(({ kind, text }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no other identity
        <span key={at} className={styles[kind]}>
          {kind !== 'same' && <b>{signs[kind]}</b>}
          {text}
        </span>
      ))}
    </code>
  );
}
