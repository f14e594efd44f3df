// Examples of a type: each a test of the script, green or red, kept with the type.
import { type FormEvent, useState } from 'react';
import { Trash2 } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { Dot } from '../../ui/chip.tsx';
import { TextField } from '../../ui/field.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import styles from './device-type.module.css';
import { deviceTypeWords } from './device-type-words.ts';
import { DiffBlock } from './diff-block.tsx';
import { useEditedType } from './edited-type.tsx';
import { type Example, examplesIn, examplesMax, withExample, withoutExample } from './examples.ts';
import { diffLines, linesOf } from './json-lines.ts';
import type { ScriptPart } from './payload.ts';
import { hasFailed, isSameEffect, type ScriptRun } from './script-run.ts';
import type { Trials } from './use-trials.ts';

interface ExampleListProps {
  readonly part: ScriptPart;
  readonly trials: Trials;
  /** Puts the input of an example into the payload box. */
  readonly load: (payload: string) => void;
}

export function ExampleList({ part, trials: { run, tested }, load }: ExampleListProps) {
  const words = useWords(deviceTypeWords);
  const { type } = useEditedType();
  const examples = examplesIn(type.sampleData, part);
  const keep = useKeep();
  return (
    <section className={styles['examples']} aria-label={words.examples}>
      <h3>
        {words.examples} <span className="mute">{words.examplesNote}</span>
      </h3>
      {examples.length === 0 && <p className="faint">{words.noExample}</p>}
      <ul>
        {examples.map((example) => (
          <ExampleRow
            key={example.name}
            example={example}
            run={tested.get(example.name)}
            load={load}
            keep={keep}
          />
        ))}
      </ul>
      {run !== undefined && !hasFailed(run) && (
        <NewExample
          isFull={examples.length >= examplesMax}
          save={(name) => keep.save({ name, part, event: run.event, emits: run.emits })}
        />
      )}
    </section>
  );
}

interface Keep {
  readonly save: (example: Example) => void;
  readonly remove: (example: Example) => void;
}

function useKeep(): Keep {
  const words = useWords(deviceTypeWords);
  const { type, update } = useEditedType();
  const store = async (sampleData: unknown[], said: string) => {
    try {
      await update({ sampleData, version: type.version });
      toast(said);
    } catch (error) {
      toastFailure(error as Error);
    }
  };
  const save = (example: Example) =>
    void store(withExample(type.sampleData, example), words.exampleSaved(example.name));
  const remove = (example: Example) =>
    void store(withoutExample(type.sampleData, example), words.exampleRemoved(example.name));
  return { save, remove };
}

interface ExampleRowProps {
  readonly example: Example;
  readonly run: ScriptRun | undefined;
  readonly load: (payload: string) => void;
  readonly keep: Keep;
}

function ExampleRow({ example, run, load, keep }: ExampleRowProps) {
  const words = useWords(deviceTypeWords);
  const isPassing = run !== undefined && isSameEffect(run.emits, example.emits);
  const verdict = isPassing ? words.passes : words.fails;
  const tone = isPassing ? 'ok' : 'bad';
  return (
    <li>
      <div className={styles['example']}>
        <Dot tone={run === undefined ? 'off' : tone} />
        <button
          type="button"
          title={words.load}
          onClick={() => load(JSON.stringify(example.event, null, 2))}
        >
          {example.name}
        </button>
        <span className="mute">{run === undefined ? words.notRun : verdict}</span>
        <span className="grow" />
        <Button
          needs="deviceType: update"
          look="ghost"
          isIcon
          aria-label={`${words.remove}: ${example.name}`}
          onClick={() => keep.remove(example)}
        >
          <Trash2 aria-hidden="true" />
        </Button>
      </div>
      {run !== undefined && !isPassing && (
        <div className={styles['failed']}>
          <DiffBlock lines={diffLines(linesOf(example.emits), linesOf(run.emits))} />
          <Button
            needs="deviceType: update"
            onClick={() => keep.save({ ...example, emits: run.emits })}
          >
            {words.accept}
          </Button>
        </div>
      )}
    </li>
  );
}

interface NewExampleProps {
  readonly isFull: boolean;
  readonly save: (name: string) => void;
}

function NewExample({ isFull, save }: NewExampleProps) {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(name.trim());
    setName('');
  };
  if (isFull) return <p className="faint">{words.exampleLimit(formats.count(examplesMax))}</p>;
  return (
    <form className={styles['newExample']} onSubmit={submit}>
      <TextField
        label={words.exampleName}
        value={name}
        required
        maxLength={100}
        onChange={({ target }) => setName(target.value)}
      />
      <Button needs="deviceType: update" type="submit">
        {words.saveExample}
      </Button>
    </form>
  );
}
