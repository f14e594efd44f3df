// Integration form: name, description and the settings of its network server.
import { faultAt, type FieldFaults } from '../../../api/field-faults.ts';
import { TextField } from '../../../ui/field.tsx';
import { NameFields } from '../../../ui/name-fields.tsx';
import type { IntegrationType } from '../../../../../src/model/integration.ts';
import { useWords } from '../../../words/language.tsx';
import type { Integration } from '../flow-requests.ts';
import { isSecret, type PropertyName, settingsOf } from './integration-settings.ts';
import { integrationWords } from './integration-words.ts';

export interface IntegrationDraft {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, string>>;
}

export function draftOf({ name, description, properties }: Integration): IntegrationDraft {
  return { name, description: description ?? '', properties };
}

/** Members of the bodies that create and change an integration. */
export function bodyOf({ name, description, properties }: IntegrationDraft) {
  const filled = Object.entries(properties).filter(([, value]) => value !== '');
  return {
    name,
    description: description === '' ? null : description,
    // The document leaves open which properties there are.
    properties: Object.fromEntries(filled) as object as Record<string, never>,
  };
}

interface IntegrationFormProps {
  readonly type: IntegrationType;
  readonly draft: IntegrationDraft;
  readonly change: (draft: IntegrationDraft) => void;
  readonly faults: FieldFaults;
}

export function IntegrationForm({ type, draft, change, faults }: IntegrationFormProps) {
  return (
    <>
      <NameFields draft={draft} change={change} faults={faults} />
      {settingsOf[type].fields.map((name) => (
        <PropertyField key={name} {...{ type, draft, change, faults, name }} />
      ))}
    </>
  );
}

function PropertyField(props: IntegrationFormProps & { readonly name: PropertyName }) {
  const { name, draft, change, faults } = props;
  const words = useWords(integrationWords);
  const hints: Readonly<Record<string, string>> = words.hints;
  const isMasked = isSecret(name) && /^\*+$/.test(draft.properties[name] ?? '');
  const hint = hints[isMasked ? 'secret' : name];
  return (
    <TextField
      label={words.properties[name]}
      {...(hint === undefined ? {} : { hint })}
      value={draft.properties[name] ?? ''}
      error={faultAt(faults, `properties.${name}`)}
      autoComplete="off"
      spellCheck={false}
      onChange={({ currentTarget: { value } }) =>
        change({ ...draft, properties: { ...draft.properties, [name]: value } })
      }
    />
  );
}
