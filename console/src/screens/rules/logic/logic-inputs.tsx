// Logic inputs: which values of devices the script reads, by the name of their variable.
import { Plus, X } from 'lucide-react';
import { faultAt, type FieldFaults } from '../../../api/field-faults.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { CheckField } from '../../../parts/check-field.tsx';
import { TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { type LogicDraft, type LogicInput, newInput } from './logic-draft.ts';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';

export interface LogicPartsProps {
  readonly draft: LogicDraft;
  readonly change: (draft: LogicDraft) => void;
  readonly faults: FieldFaults;
}

export function LogicInputs({ draft, change, faults }: LogicPartsProps) {
  const words = useWords(logicWords);
  const { inputs } = draft;
  const add = () =>
    change({ ...draft, inputs: [...inputs, newInput(`input${inputs.length + 1}`)] });
  return (
    <Card
      title={words.inputs}
      note={words.inputsNote}
      actions={
        <Button look="ghost" onClick={add}>
          <Plus aria-hidden="true" />
          {words.addInput}
        </Button>
      }
    >
      {inputs.length === 0 ? (
        <p className={styles['none']}>{words.noInputs}</p>
      ) : (
        <ul className={styles['parts']}>
          {inputs.map((input, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- an input is renamed while it is edited
            <li key={at}>
              <InputFields
                input={input}
                error={faultAt(faults, `dataSources.${at}`)}
                change={(next) => change({ ...draft, inputs: inputs.with(at, next) })}
                remove={() => change({ ...draft, inputs: inputs.toSpliced(at, 1) })}
              />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

interface InputFieldsProps {
  readonly input: LogicInput;
  readonly error: string | undefined;
  readonly change: (input: LogicInput) => void;
  readonly remove: () => void;
}

function InputFields({ input, error, change, remove }: InputFieldsProps) {
  const words = useWords(logicWords);
  const { variableName, defaultTopic, defaultDataKey, lastSample, triggerOnUplink } = input;
  return (
    <>
      <div className={styles['row']}>
        <TextField
          label={words.variable}
          error={error}
          value={variableName}
          spellCheck={false}
          onChange={({ currentTarget: { value } }) => change({ ...input, variableName: value })}
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
        <Button look="ghost" isIcon aria-label={words.removeInput(variableName)} onClick={remove}>
          <X aria-hidden="true" />
        </Button>
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
