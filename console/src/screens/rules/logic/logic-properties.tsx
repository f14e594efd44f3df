// Logic properties: values that each rule sets for the script, with their type and first value.
import { SelectField, TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { type LogicProperty, newProperty, propertyTypes } from './logic-draft.ts';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';
import {
  type LogicPartsProps,
  type PartProps,
  PartsCard,
  RemovePart,
  VariableField,
} from './parts-card.tsx';

export function LogicProperties({ draft, change, faults }: LogicPartsProps) {
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
