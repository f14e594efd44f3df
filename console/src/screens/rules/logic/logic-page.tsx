// Custom logic page: the script with its trial, its inputs and properties, and the rules that use it.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Play, Plus, X } from 'lucide-react';
import { type ComponentType, useEffect, useMemo, useRef, useState } from 'react';
import {
  type Completion,
  type CompletionSource,
  snippetCompletion,
} from '@codemirror/autocomplete';
import { faultAt, faultsOf, type FieldFaults } from '../../../api/field-faults.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Chip } from '../../../ui/chip.tsx';
import { CurlButton } from '../../../ui/copy-button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { NameFields } from '../../../ui/name-fields.tsx';
import { Page } from '../../../ui/page.tsx';
import { RemoveRecord } from '../../../ui/remove-record.tsx';
import { Answered, Bone, Empty, Failure } from '../../../ui/states.tsx';
import { UnsavedBar } from '../../../ui/unsaved-bar.tsx';
import { useEditor } from '../../../ui/use-editor.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import {
  bodyOf,
  draftOf,
  exampleEvent,
  type Logic,
  type LogicDraft,
  type LogicInput,
  logicOf,
  type LogicProperty,
  newInput,
  newProperty,
  propertyTypes,
} from './logic-draft.ts';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';
import { CodeEditor } from '../../device-types/code-editor.tsx';
import type { JsonObject } from '../../device-types/payload.ts';
import { Results } from '../../device-types/results.tsx';
import { problemOf, useTrials } from '../../device-types/script-run.ts';

const route = '/signed-in/shell/w/$workspaceId/rules/logic/$logicId';

export function LogicPage() {
  const words = useWords(logicWords);
  const { workspaceId, logicId } = useParams({ from: route });
  const logic = useQuery(logicOf(logicId));
  const path = `/v3/rules/custom/${logicId}`;
  const name = logic.data?.name ?? words.title;
  const list = (
    <Link key="list" to="/w/$workspaceId/rules/logic" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  return (
    <Page
      isWide
      title={logic.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[list, name]}
      lead={logic.data === undefined ? <Bone /> : <Lead logic={logic.data} />}
      actions={<CurlButton request={{ path }} />}
    >
      <Answered answer={logic} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <LogicEditor key={found.id} logic={found} workspaceId={workspaceId} />
            <UsedBy logic={found} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function Lead({ logic: { rules } }: { readonly logic: Logic }) {
  const words = useWords(logicWords);
  const { count } = useFormats();
  return rules.length === 0 ? words.unused : words.lead(count(rules.length), rules.length);
}

interface LogicEditorProps {
  readonly logic: Logic;
  readonly workspaceId: string;
}

function LogicEditor({ logic, workspaceId }: LogicEditorProps) {
  const words = useWords(logicWords);
  const { id, version, rules } = logic;
  const editor = useEditor<LogicDraft, Logic>({
    key: `custom logic ${id}`,
    saved: draftOf(logic),
    version,
    record: logicOf(id).queryKey,
    list: ['custom-logic'],
    send: (draft, from) => {
      const body = { ...bodyOf(draft), ...from };
      return ask(platform.PUT('/v3/rules/custom/{id}', { params: { path: { id } }, body }));
    },
  });
  const { value: draft, change } = editor;
  const faults = faultsOf(editor.error);
  const parts = { draft, change, faults };
  return (
    <>
      <div className={`columns gap-16 align-start ${styles['head']}`}>
        <NameFields {...parts} />
      </div>
      <LogicScript
        draft={draft}
        change={change}
        save={() => {
          if (editor.isChanged) editor.save();
        }}
      />
      {rules.some(({ active }) => active) && <p className="mute">{words.fixed}</p>}
      <div className={`columns gap-16 align-start ${styles['halves']}`}>
        <LogicInputs {...parts} />
        <LogicProperties {...parts} />
      </div>
      <UnsavedBar needs="customLogic: update" editor={editor}>
        <RemoveRecord
          needs="customLogic: delete"
          name={logic.name}
          note={words.removeNote}
          send={() => ask(platform.DELETE('/v3/rules/custom/{id}', { params: { path: { id } } }))}
          discard={editor.discard}
          lists={[['custom-logic']]}
          next={{ to: '/w/$workspaceId/rules/logic', params: { workspaceId } }}
        />
      </UnsavedBar>
    </>
  );
}

function UsedBy({ logic: { rules } }: { readonly logic: Logic }) {
  const words = useWords(logicWords);
  return (
    <Card title={words.usedBy}>
      {rules.length === 0 ? (
        <Empty title={words.unused} note={words.unusedNote} />
      ) : (
        <ul className={`divided ${styles['users']}`}>
          {rules.map(({ id, workspaceId, name, active }) => (
            <li key={id}>
              <Link to="/w/$workspaceId/rules/$ruleId/edit" params={{ workspaceId, ruleId: id }}>
                {name}
              </Link>
              <Chip tone={active ? 'ok' : 'plain'}>{active ? words.active : words.inactive}</Chip>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

// Logic inputs: which values of devices the script reads, by the name of their variable.

function LogicInputs({ draft, change, faults }: LogicPartsProps) {
  const words = useWords(logicWords);
  return (
    <PartsCard
      title={words.inputs}
      note={words.inputsNote}
      emptyNote={words.noInputs}
      addLabel={words.addInput}
      parts={draft.inputs}
      newPart={(number) => newInput(`input${number}`)}
      change={(inputs) => change({ ...draft, inputs })}
      faults={faults}
      path="dataSources"
      Part={InputFields}
    />
  );
}

function InputFields({ part: input, error, change, remove }: PartProps<LogicInput>) {
  const words = useWords(logicWords);
  const { variableName, defaultTopic, defaultDataKey, lastSample, triggerOnUplink } = input;
  return (
    <>
      <div className={styles['row']}>
        <VariableField
          name={variableName}
          error={error}
          change={(name) => change({ ...input, variableName: name })}
        />
        <TextField
          label={words.topic}
          value={defaultTopic}
          spellCheck={false}
          onChange={({ currentTarget: { value } }) => change({ ...input, defaultTopic: value })}
        />
        <TextField
          label={words.key}
          value={defaultDataKey}
          spellCheck={false}
          onChange={({ currentTarget: { value } }) => change({ ...input, defaultDataKey: value })}
        />
        <RemovePart label={words.removeInput(variableName)} remove={remove} />
      </div>
      <CheckField
        label={words.triggers}
        isOn={triggerOnUplink}
        change={(isOn) => change({ ...input, triggerOnUplink: isOn })}
      />
      <CheckField
        label={words.lastSample}
        isOn={lastSample}
        change={(isOn) => change({ ...input, lastSample: isOn })}
      />
    </>
  );
}

// Logic properties: values that each rule sets for the script, with their type and first value.

function LogicProperties({ draft, change, faults }: LogicPartsProps) {
  const words = useWords(logicWords);
  return (
    <PartsCard
      title={words.properties}
      note={words.propertiesNote}
      emptyNote={words.noProperties}
      addLabel={words.addProperty}
      parts={draft.properties}
      newPart={(number) => newProperty(`property${number}`)}
      change={(properties) => change({ ...draft, properties })}
      faults={faults}
      path="properties"
      Part={PropertyFields}
    />
  );
}

function PropertyFields({ part: property, error, change, remove }: PartProps<LogicProperty>) {
  const words = useWords(logicWords);
  const { variableName, type } = property;
  return (
    <div className={styles['row']}>
      <VariableField
        name={variableName}
        error={error}
        change={(name) => change({ ...property, variableName: name })}
      />
      <SelectField
        label={words.type}
        value={type}
        onChange={({ currentTarget: { value } }) => {
          const chosen = propertyTypes.find((one) => one === value) ?? 'STRING';
          change({ ...property, type: chosen, defaultValue: '' });
        }}
      >
        {propertyTypes.map((one) => (
          <option key={one} value={one}>
            {words.types[one]}
          </option>
        ))}
      </SelectField>
      <ValueField property={property} change={change} />
      <RemovePart label={words.removeProperty(variableName)} remove={remove} />
    </div>
  );
}

interface ValueFieldProps {
  readonly property: LogicProperty;
  readonly change: (property: LogicProperty) => void;
}

function ValueField({ property, change }: ValueFieldProps) {
  const words = useWords(logicWords);
  const { type, defaultValue } = property;
  if (type === 'BOOLEAN')
    return (
      <SelectField
        label={words.value}
        value={defaultValue}
        onChange={({ currentTarget: { value } }) => change({ ...property, defaultValue: value })}
      >
        <option value="">{words.none}</option>
        <option value="true">{words.yes}</option>
        <option value="false">{words.no}</option>
      </SelectField>
    );
  return (
    <TextField
      label={words.value}
      value={defaultValue}
      inputMode={type === 'NUMERICAL' ? 'decimal' : 'text'}
      onChange={({ currentTarget: { value } }) => change({ ...property, defaultValue: value })}
    />
  );
}

// Parts card: inputs or properties of a custom logic block as rows, which are added and removed.

interface LogicPartsProps {
  readonly draft: LogicDraft;
  readonly change: (draft: LogicDraft) => void;
  readonly faults: FieldFaults;
}

interface PartProps<T> {
  readonly part: T;
  readonly error: string | undefined;
  readonly change: (part: T) => void;
  readonly remove: () => void;
}

interface PartsCardProps<T> {
  readonly title: string;
  readonly note: string;
  readonly emptyNote: string;
  readonly addLabel: string;
  readonly parts: readonly T[];
  /** The first values of a part, by its number from 1. */
  readonly newPart: (number: number) => T;
  readonly change: (parts: readonly T[]) => void;
  readonly faults: FieldFaults;
  /** Member of the body that contains the parts. */
  readonly path: string;
  readonly Part: ComponentType<PartProps<T>>;
}

function PartsCard<T>(props: PartsCardProps<T>) {
  const { title, note, emptyNote, addLabel, parts, newPart, change, faults, path, Part } = props;
  const add = (
    <Button look="ghost" onClick={() => change([...parts, newPart(parts.length + 1)])}>
      <Plus aria-hidden="true" />
      {addLabel}
    </Button>
  );
  return (
    <Card title={title} note={note} actions={add}>
      {parts.length === 0 ? (
        <p className={styles['none']}>{emptyNote}</p>
      ) : (
        <ul className={`divided ${styles['parts']}`}>
          {parts.map((part, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- a part is renamed while it is edited
            <li key={at}>
              <Part
                part={part}
                error={faultAt(faults, `${path}.${at}`)}
                change={(next) => change(parts.with(at, next))}
                remove={() => change(parts.toSpliced(at, 1))}
              />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

interface RemovePartProps {
  readonly label: string;
  readonly remove: () => void;
}

function RemovePart({ label, remove }: RemovePartProps) {
  return (
    <Button look="ghost" isIcon aria-label={label} onClick={remove}>
      <X aria-hidden="true" />
    </Button>
  );
}

interface VariableFieldProps {
  readonly name: string;
  readonly error: string | undefined;
  readonly change: (name: string) => void;
}

/** The variable by which the script reads a part. */
function VariableField({ name, error, change }: VariableFieldProps) {
  const words = useWords(logicWords);
  return (
    <TextField
      label={words.variable}
      error={error}
      value={name}
      spellCheck={false}
      onChange={({ currentTarget: { value } }) => change(value)}
    />
  );
}

// Logic script: the code at the left, its trial on an event at the right.

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
          <Results note={words.runNote} run={trials.run} before={trials.before} />
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
