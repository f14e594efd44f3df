// If lane: one card per logic block with its conditions, or the fence or script of the rule.
import { GitBranch, Plus } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import { CheckField, toggled } from '../../parts/check-field.tsx';
import { AddButton, Lane } from '../../parts/lanes/lane.tsx';
import { NodeCard } from '../../parts/lanes/node-card.tsx';
import { useWords } from '../../words/language.tsx';
import { ConditionForm } from './condition-form.tsx';
import { editorWords } from './editor-words.ts';
import type { LaneProps } from './lanes.tsx';
import { LogicJson } from './logic-json.tsx';
import {
  blocksOf,
  type RuleBlock,
  withBlock,
  withCondition,
  withNewBlock,
  withoutBlock,
} from './rule-model.ts';
import { hasKeys, partsOf } from './rule-sentence.ts';
import styles from './rules.module.css';

export function IfLane(props: LaneProps) {
  const { rule, change, open, setOpen } = props;
  const words = useWords(editorWords);
  const { type } = rule.logic;
  return (
    <Lane
      title={words.if}
      foot={
        type === 'COMPARISON' && (
          <AddButton
            label={words.addBlock}
            add={() => {
              change(withNewBlock(rule));
              setOpen(`if ${blocksOf(rule).length}`);
            }}
          />
        )
      }
    >
      {type === 'COMPARISON' ? (
        blocksOf(rule).map((block, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a block has no other identity
          <BlockCard key={at} {...props} block={block} at={at} />
        ))
      ) : (
        <NodeCard
          name="if 0"
          open={open}
          setOpen={setOpen}
          icon={<GitBranch aria-hidden="true" />}
          title={words[type]}
          note={words.eachSample}
        >
          <LogicJson logic={rule.logic} change={(logic) => change({ ...rule, logic })} />
        </NodeCard>
      )}
    </Lane>
  );
}

interface BlockProps extends LaneProps {
  readonly block: RuleBlock;
  readonly at: number;
}

function BlockCard(props: BlockProps) {
  const { rule, change, open, setOpen, block, at } = props;
  const words = useWords(editorWords);
  const hasOthers = blocksOf(rule).length > 1;
  return (
    <NodeCard
      name={`if ${at}`}
      open={open}
      setOpen={setOpen}
      icon={<GitBranch aria-hidden="true" />}
      title={<Said {...props} />}
      note={words.eachSample}
      removeLabel={words.removeBlock}
      remove={hasOthers ? () => change(withoutBlock(rule, at)) : undefined}
    >
      {block.conditions.map((condition, place) => (
        // oxlint-disable-next-line react/no-array-index-key -- a condition has no other identity
        <ConditionForm key={place} {...props} condition={condition} place={place} />
      ))}
      <span>
        <Button onClick={() => change(withCondition(rule, at))}>
          <Plus aria-hidden="true" />
          {words.addCondition}
        </Button>
      </span>
      {rule.actions.length > 0 && hasOthers && <Fires {...props} />}
    </NodeCard>
  );
}

/** The block in the words of a condition, with its comparison marked. */
function Said({ rule, block }: BlockProps) {
  const words = useWords(editorWords);
  return block.conditions.map((condition, place) => {
    const { key, operator, value } = partsOf(rule, condition, words);
    const { chainOperator } = condition;
    if (!hasKeys(rule, condition))
      // oxlint-disable-next-line react/no-array-index-key -- a condition has no other identity
      return <span key={place}>{words.noKey}</span>;
    return (
      // oxlint-disable-next-line react/no-array-index-key -- a condition has no other identity
      <span key={place} className={styles['condition']}>
        <span className="mono">{key}</span> <em>{operator}</em>{' '}
        <span className="mono">{value}</span>
        {chainOperator !== null && <i> {words.chains[chainOperator]} </i>}
      </span>
    );
  });
}

/** Which actions this block fires; asked for only when there are several blocks. */
function Fires({ rule, change, block, at }: BlockProps) {
  const words = useWords(editorWords);
  return (
    <fieldset className={styles['fires']}>
      <legend>{words.fires}</legend>
      {rule.actions.map(({ id, name }) => (
        <CheckField
          key={id}
          label={name}
          isOn={block.actionIds.includes(id)}
          change={(isOn) =>
            change(withBlock(rule, at, { ...block, actionIds: toggled(block.actionIds, id, isOn) }))
          }
        />
      ))}
    </fieldset>
  );
}
