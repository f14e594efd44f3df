// Logic inputs: which values of devices the script reads, by the name of their variable.
import { CheckField } from '../../../parts/check-field.tsx';
import { TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { type LogicInput, newInput } from './logic-draft.ts';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';
import {
  type LogicPartsProps,
  type PartProps,
  PartsCard,
  RemovePart,
  VariableField,
} from './parts-card.tsx';

export function LogicInputs({ draft, change, faults }: LogicPartsProps) {
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
