// Parts card: inputs or properties of a custom logic block as rows, which are added and removed.
import { Plus, X } from 'lucide-react';
import type { ComponentType } from 'react';
import { faultAt, type FieldFaults } from '../../../api/field-faults.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import type { LogicDraft } from './logic-draft.ts';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';

export interface LogicPartsProps {
  readonly draft: LogicDraft;
  readonly change: (draft: LogicDraft) => void;
  readonly faults: FieldFaults;
}

export interface PartProps<T> {
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

export function PartsCard<T>(props: PartsCardProps<T>) {
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
        <ul className={styles['parts']}>
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

export function RemovePart({ label, remove }: RemovePartProps) {
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
export function VariableField({ name, error, change }: VariableFieldProps) {
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
