// Rule fields: name, state, the sentence and the lanes, with what the platform said of them.
import { CheckField } from '../../ui/check-field.tsx';
import { TextField } from '../../ui/field.tsx';
import { faultAt, faultsOf } from '../../api/field-faults.ts';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import { Lanes } from './lanes.tsx';
import type { RuleDraft } from './rule-model.ts';
import { sentenceOf } from './rule-sentence.ts';
import styles from './rules.module.css';

interface RuleFieldsProps {
  readonly workspaceId: string;
  readonly rule: RuleDraft;
  readonly change: (rule: RuleDraft) => void;
  readonly error: Error | null;
}

export function RuleFields({ workspaceId, rule, change, error }: RuleFieldsProps) {
  const words = useWords(editorWords);
  const faults = faultsOf(error);
  return (
    <>
      <p className={styles['sentence']}>{sentenceOf(rule, words)}</p>
      <div className={styles['head']}>
        <TextField
          label={words.name}
          error={faultAt(faults, 'name')}
          value={rule.name}
          onChange={(event) => change({ ...rule, name: event.currentTarget.value })}
        />
        <CheckField
          label={words.isOn}
          isOn={rule.active}
          change={(active) => change({ ...rule, active })}
        />
      </div>
      <Lanes workspaceId={workspaceId} rule={rule} change={change} />
    </>
  );
}
