// Logic script: the code at the left, its trial on an event at the right.
import {
  type Completion,
  type CompletionSource,
  snippetCompletion,
} from '@codemirror/autocomplete';
import { Play } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Failure } from '../../../ui/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { CodeEditor } from '../../device-types/code-editor.tsx';
import type { JsonObject } from '../../device-types/payload.ts';
import { Results } from '../../device-types/results.tsx';
import { problemOf } from '../../device-types/script-run.ts';
import { useTrials } from '../../device-types/use-trials.ts';
import { exampleEvent, type LogicDraft } from './logic-draft.ts';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';

interface LogicScriptProps {
  readonly draft: LogicDraft;
  readonly change: (draft: LogicDraft) => void;
  readonly save: () => void;
}

export function LogicScript({ draft, change, save }: LogicScriptProps) {
  const words = useWords(logicWords);
  const [edited, setEdited] = useState<string>();
  const trials = useTrials(undefined, 'uplinkScript');
  const typed = edited ?? JSON.stringify(exampleEvent(draft), null, 2);
  const event = objectOf(typed);
  // The newest draft, also when a key of the editor is faster than the next render.
  const latest = useRef(draft);
  useEffect(() => {
    latest.current = draft;
  }, [draft]);
  const [completions] = useState(() => logicCompletions(draft));
  // The editor begins again only when the code changed elsewhere, so that saving keeps its cursor.
  const [shown, setShown] = useState({ code: draft.script, revision: 0 });
  if (shown.code !== draft.script) setShown({ code: draft.script, revision: shown.revision + 1 });
  const run = () => {
    if (event !== undefined) trials.start(latest.current.script, event);
  };
  const problem = useMemo(
    () => (trials.run === undefined ? undefined : problemOf(trials.run)),
    [trials.run],
  );
  return (
    <div className={`columns gap-16 ${styles['split']}`}>
      <Card
        title={words.script}
        note={words.scriptNote}
        actions={<span className="faint text-tiny">{words.hint}</span>}
      >
        <CodeEditor
          key={shown.revision}
          label={words.script}
          initialCode={draft.script}
          problem={problem}
          completions={completions}
          run={run}
          save={save}
          change={(script) => {
            latest.current = { ...latest.current, script };
            setShown({ ...shown, code: script });
            change(latest.current);
          }}
        />
      </Card>
      <Card
        title={words.tryIt}
        actions={
          <>
            {edited !== undefined && (
              <Button look="ghost" onClick={() => setEdited(undefined)}>
                {words.reset}
              </Button>
            )}
            <Button onClick={run} disabled={trials.isRunning || event === undefined}>
              <Play aria-hidden="true" />
              {words.run}
              <kbd aria-hidden="true">Ctrl ↵</kbd>
            </Button>
          </>
        }
        isPadded
      >
        <div className={`stack gap-16 ${styles['trial']}`}>
          <TextArea
            label={words.event}
            hint={words.eventHint}
            error={event === undefined ? words.eventWrong : undefined}
            rows={10}
            spellCheck={false}
            value={typed}
            onChange={({ currentTarget }) => setEdited(currentTarget.value)}
          />
          {trials.error !== null && <Failure error={trials.error} retry={run} />}
          <Results run={trials.run} before={trials.before} />
        </div>
      </Card>
    </div>
  );
}

function objectOf(typed: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(typed);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

// Completion of custom logic: members of the event with the own inputs and properties, and emits.

const members = [
  'type',
  'inputs',
  'properties',
  'state',
  'device',
  'device.id',
  'device.deviceId',
  'device.name',
  'dataSources',
  'numberOfInvocations',
  'platformStart',
  'timer',
  'rule',
];

const emits: readonly Completion[] = [
  snippet("emit('action', { #{} });", "emit('action')"),
  snippet("emit('state', { #{} });", "emit('state')"),
  snippet(
    "emit('timer', { runAt: new Date(Date.now() + #{60000}), meta: { #{} } });",
    "emit('timer')",
  ),
  snippet("emit('log', { #{} });", "emit('log')"),
];

function snippet(template: string, label: string): Completion {
  return snippetCompletion(template, { label, type: 'keyword', boost: 2 });
}

function logicCompletions({
  inputs,
  properties,
}: Pick<LogicDraft, 'inputs' | 'properties'>): CompletionSource {
  const names = [
    ...members,
    ...inputs.map(({ variableName }) => `inputs.${variableName}`),
    ...properties.map(({ variableName }) => `properties.${variableName}`),
  ];
  const known = names.map((name) => ({ label: `event.${name}`, type: 'property', boost: 1 }));
  const options = [...emits, ...known];
  return (context) => {
    const word = context.matchBefore(/[\w.]+/);
    if (word === null && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options, validFor: /^[\w.]*$/ };
  };
}
