// Logic properties: values that each rule sets for the script, with their type and first value.
import { Plus, X } from 'lucide-react';
import { faultAt } from '../../../api/field-faults.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { type LogicProperty, newProperty, propertyTypes } from './logic-draft.ts';
import type { LogicPartsProps } from './logic-inputs.tsx';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';

export function LogicProperties({ draft, change, faults }: LogicPartsProps) {
  const words = useWords(logicWords);
  const { properties } = draft;
  const add = () => {
    const added = newProperty(`property${properties.length + 1}`);
    change({ ...draft, properties: [...properties, added] });
  };
  return (
    <Card
      title={words.properties}
      note={words.propertiesNote}
      actions={
        <Button look="ghost" onClick={add}>
          <Plus aria-hidden="true" />
          {words.addProperty}
        </Button>
      }
    >
      {properties.length === 0 ? (
        <p className={styles['none']}>{words.noProperties}</p>
      ) : (
        <ul className={styles['parts']}>
          {properties.map((property, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- a property is renamed while it is edited
            <li key={at}>
              <PropertyFields
                property={property}
                error={faultAt(faults, `properties.${at}`)}
                change={(next) => change({ ...draft, properties: properties.with(at, next) })}
                remove={() => change({ ...draft, properties: properties.toSpliced(at, 1) })}
              />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

interface PropertyFieldsProps {
  readonly property: LogicProperty;
  readonly error: string | undefined;
  readonly change: (property: LogicProperty) => void;
  readonly remove: () => void;
}

function PropertyFields({ property, error, change, remove }: PropertyFieldsProps) {
  const words = useWords(logicWords);
  const { variableName, type } = property;
  return (
    <div className={styles['row']}>
      <TextField
        label={words.variable}
        error={error}
        value={variableName}
        spellCheck={false}
        onChange={({ currentTarget: { value } }) => change({ ...property, variableName: value })}
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
      <Button look="ghost" isIcon aria-label={words.removeProperty(variableName)} onClick={remove}>
        <X aria-hidden="true" />
      </Button>
    </div>
  );
}

function ValueField({ property, change }: Pick<PropertyFieldsProps, 'property' | 'change'>) {
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
