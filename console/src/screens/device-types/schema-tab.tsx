// Schema tab: the keys that each topic declares, with their units, changed one by one or as JSON.
import { Plus, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useMayDo } from '../../session/permissions.ts';
import { useWords } from '../../words/language.tsx';
import { useEditedType } from './edited-type.tsx';
import {
  type SchemaKey,
  type TopicSchema,
  topicSchemasOf,
  withKey,
  withoutKey,
} from './schema-keys.ts';
import styles from './schema.module.css';
import { schemaWords } from './device-type-words.ts';

export function SchemaTab() {
  const words = useWords(schemaWords);
  const { type } = useEditedType();
  const topics = topicSchemasOf(type.schemas);
  const save = useSaveSchemas();
  return (
    <div className={styles['topics']}>
      {topics.length === 0 && (
        <Card title={words.title}>
          <Empty title={words.empty} note={words.emptyNote} />
        </Card>
      )}
      {topics.map((schema) => (
        <TopicCard key={schema.topic} schema={schema} save={save} />
      ))}
      <NewTopic
        save={(topic) =>
          save({ [topic]: '{"type":"object","properties":{}}' }, words.topicAdded(topic))
        }
      />
    </div>
  );
}

/** `undefined` removes a topic. */
type Changes = Readonly<Record<string, string | undefined>>;
export type SaveSchemas = (changes: Changes, said: string) => Promise<boolean>;

function useSaveSchemas(): SaveSchemas {
  const words = useWords(schemaWords);
  const { type, update } = useEditedType();
  return async (changes, said) => {
    const entries = Object.entries({ ...type.schemas, ...changes });
    const kept = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
    const schemas = Object.fromEntries(kept);
    try {
      const { version } = await update({ schemas, version: type.version });
      const undo = () =>
        void update({ schemas: type.schemas, version })
          .then(() => toast(words.undone))
          .catch(toastFailure);
      toast(said, undo);
      return true;
    } catch (error) {
      toastFailure(error as Error);
      return false;
    }
  };
}

interface TopicCardProps {
  readonly schema: TopicSchema;
  readonly save: SaveSchemas;
}

function TopicCard({ schema: { topic, keys, json }, save }: TopicCardProps) {
  const words = useWords(schemaWords);
  const [edited, setEdited] = useState<string>();
  return (
    <Card
      title={topic}
      note={words.keys(keys.length)}
      actions={
        <>
          <Button needs="deviceType: update" onClick={() => setEdited('')}>
            <Plus aria-hidden="true" />
            {words.addKey}
          </Button>
          <Button
            needs="deviceType: update"
            look="ghost"
            isIcon
            aria-label={words.removeTopic(topic)}
            onClick={() => void save({ [topic]: undefined }, words.topicRemoved(topic))}
          >
            <Trash2 aria-hidden="true" />
          </Button>
        </>
      }
    >
      <KeyTable schema={{ topic, keys, json }} save={save} edit={setEdited} />
      <JsonSchema key={json} schema={{ topic, keys, json }} save={save} />
      {edited !== undefined && (
        <KeyDialog
          schema={{ topic, keys, json }}
          edited={keys.find(({ key }) => key === edited)}
          save={save}
          close={() => setEdited(undefined)}
        />
      )}
    </Card>
  );
}

interface KeyTableProps extends TopicCardProps {
  readonly edit: (key: string) => void;
}

function KeyTable({ schema: { topic, keys, json }, save, edit }: KeyTableProps) {
  const mayEdit = useMayDo('deviceType: update');
  const words = useWords(schemaWords);
  if (keys.length === 0) return <p className={styles['none']}>{words.noKey}</p>;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={topic}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{words.key}</th>
            <th scope="col">{words.type}</th>
            <th scope="col">{words.unit}</th>
            <th scope="col">{words.counter}</th>
            <th scope="col">{words.label}</th>
            <th scope="col">{words.actions}</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ key, type, unit, counterType, title, isRequired }) => (
            <tr key={key}>
              <td>
                <button type="button" disabled={!mayEdit} onClick={() => edit(key)}>
                  {key}
                </button>
                {isRequired && <span className="faint"> {words.required}</span>}
              </td>
              <td>{type}</td>
              <td>{unit}</td>
              <td>{counterType}</td>
              <td className="mute">{title}</td>
              <td>
                <Button
                  needs="deviceType: update"
                  look="ghost"
                  isIcon
                  aria-label={words.removeKey(key)}
                  onClick={() =>
                    void save({ [topic]: withoutKey(json, key) }, words.keyRemoved(key))
                  }
                >
                  <Trash2 aria-hidden="true" />
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function JsonSchema({ schema: { topic, json }, save }: TopicCardProps) {
  const words = useWords(schemaWords);
  const [text, setText] = useState(json);
  return (
    <details className={styles['json']}>
      <summary>{words.json}</summary>
      <TextArea
        label={words.jsonOf(topic)}
        value={text}
        rows={14}
        spellCheck={false}
        onChange={({ target }) => setText(target.value)}
      />
      <Button
        needs="deviceType: update"
        disabled={text === json}
        onClick={() => void save({ [topic]: text }, words.topicSaved(topic))}
      >
        {words.save}
      </Button>
    </details>
  );
}

function NewTopic({ save }: { readonly save: (topic: string) => Promise<boolean> }) {
  const words = useWords(schemaWords);
  const [topic, setTopic] = useState('');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await save(topic.trim())) setTopic('');
  };
  return (
    <form className={styles['newTopic']} onSubmit={(event) => void submit(event)}>
      <TextField
        label={words.newTopic}
        value={topic}
        required
        maxLength={100}
        onChange={({ target }) => setTopic(target.value)}
      />
      <Button needs="deviceType: update" type="submit">
        {words.addTopic}
      </Button>
    </form>
  );
}

// Key dialog: name, type, unit and kind of counter of one declared key.

const types = ['number', 'integer', 'string', 'boolean', 'object', 'array'];
const counterTypes = ['', 'monotonic', 'delta', 'gauge', 'categorical'];

interface KeyDialogProps {
  readonly schema: TopicSchema;
  /** Undefined for a new key. */
  readonly edited: SchemaKey | undefined;
  readonly save: SaveSchemas;
  readonly close: () => void;
}

function KeyDialog({ schema: { topic, json }, edited, save, close }: KeyDialogProps) {
  const words = useWords(schemaWords);
  const [key, setKey] = useState(edited?.key ?? '');
  const [fields, setFields] = useState(() => fieldsOf(edited));
  const submit = async () => {
    const { type, ...others } = fields;
    // A list of types, or none, stays as it is in the schema.
    const change = types.includes(type) ? fields : others;
    const isSaved = await save({ [topic]: withKey(json, key.trim(), change) }, words.keySaved(key));
    if (isSaved) close();
  };
  return (
    <FormDialog
      title={edited === undefined ? words.addKey : edited.key}
      submitLabel={words.save}
      submit={() => void submit()}
      close={close}
    >
      {edited === undefined && (
        <TextField
          label={words.key}
          value={key}
          required
          autoFocus
          onChange={({ target }) => setKey(target.value)}
        />
      )}
      <KeyFields fields={fields} change={setFields} />
    </FormDialog>
  );
}

type Fields = Pick<SchemaKey, 'type' | 'unit' | 'counterType' | 'title'>;

function fieldsOf(edited: SchemaKey | undefined): Fields {
  if (edited === undefined) return { type: 'number', unit: '', counterType: '', title: '' };
  const { type, unit, counterType, title } = edited;
  return { type, unit, counterType, title };
}

interface KeyFieldsProps {
  readonly fields: Fields;
  readonly change: (fields: Fields) => void;
}

function KeyFields({ fields, change }: KeyFieldsProps) {
  const words = useWords(schemaWords);
  const options = types.includes(fields.type) ? types : [fields.type, ...types];
  return (
    <>
      <SelectField
        label={words.type}
        value={fields.type}
        onChange={({ target }) => change({ ...fields, type: target.value })}
      >
        {options.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.unit}
        value={fields.unit}
        onChange={({ target }) => change({ ...fields, unit: target.value })}
      />
      <SelectField
        label={words.counter}
        hint={words.counterHint}
        value={fields.counterType}
        onChange={({ target }) => change({ ...fields, counterType: target.value })}
      >
        {counterTypes.map((one) => (
          <option key={one} value={one}>
            {one === '' ? '–' : one}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.label}
        value={fields.title}
        onChange={({ target }) => change({ ...fields, title: target.value })}
      />
    </>
  );
}
