// Lanes: When, If and Then side by side, joined by lines.
import { useQuery } from '@tanstack/react-query';
import { Clock, Cpu, GitBranch, MapPin, Plus, Tag } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { placesOf, tagsOf } from '../../api/workspace-records.ts';
import { Button } from '../../ui/button.tsx';
import { DevicePick } from '../../ui/device-pick.tsx';
import {
  CheckField,
  MinutesField,
  SelectField,
  TextArea,
  TextField,
  toggled,
} from '../../ui/field.tsx';
import {
  AddButton,
  AddForm,
  Lane,
  LaneFrame,
  NodeCard,
  type OpenCard,
  type Wire,
} from '../../ui/lanes.tsx';
import { useWords } from '../../words/language.tsx';
import { ConditionForm } from './condition-form.tsx';
import { editorWords } from './editor-words.ts';
import {
  blocksOf,
  clearLimitOf,
  clearOperatorOf,
  type LaneProps,
  type RuleBlock,
  type RuleDraft,
  type RuleInput,
  withBlock,
  withClearLimit,
  withCondition,
  withDuration,
  withInput,
  withLogicType,
  withNewBlock,
  withoutBlock,
  withoutInput,
} from './rule-model.ts';
import { hasKeys, partsOf } from './rule-sentence.ts';
import styles from './rules.module.css';
import { ThenLane } from './then-lane.tsx';

type LanesProps = Omit<LaneProps, keyof OpenCard>;

export function Lanes(props: LanesProps) {
  const words = useWords(editorWords);
  const [open, setOpen] = useState<string>();
  const lane = { ...props, open, setOpen };
  return (
    <LaneFrame label={words.lanes} wires={wiresOf(props.rule)}>
      <WhenLane {...lane} />
      <IfLane {...lane} />
      <ThenLane {...lane} />
    </LaneFrame>
  );
}

/** From each input to each condition, and from a condition to the actions that it fires. */
function wiresOf(rule: RuleDraft): readonly Wire[] {
  const { logic, inputs, actions, timer } = rule;
  const starts = inputs.map(({ id }) => `when ${id}`);
  if (timer.enabled) starts.push('when timer');
  if (logic.type !== 'COMPARISON')
    return [
      ...starts.map((from) => [from, 'if 0'] as const),
      ...actions.map(({ id }) => ['if 0', `then ${id}`] as const),
    ];
  return blocksOf(rule).flatMap(({ actionIds }, at) => [
    ...starts.map((from) => [from, `if ${at}`] as const),
    ...actionIds.map((id) => [`if ${at}`, `then ${id}`] as const),
  ]);
}

// If lane: one card per logic block with its conditions, or the fence or script of the rule.

function IfLane(props: LaneProps) {
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
      {(type === 'COMPARISON' || type === 'SILENCE') && (
        <li>
          <SelectField
            label={words.about}
            value={type}
            onChange={({ currentTarget }) =>
              change(
                withLogicType(rule, currentTarget.value === 'SILENCE' ? 'SILENCE' : 'COMPARISON'),
              )
            }
          >
            <option value="COMPARISON">{words.aboutKinds.COMPARISON}</option>
            <option value="SILENCE">{words.aboutKinds.SILENCE}</option>
          </SelectField>
        </li>
      )}
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
          note={type === 'SILENCE' ? undefined : words.eachSample}
        >
          {rule.logic.silenceLogicBlock === undefined ? (
            <LogicJson logic={rule.logic} change={(logic) => change({ ...rule, logic })} />
          ) : (
            <SilenceForm
              silence={rule.logic.silenceLogicBlock}
              change={(silenceLogicBlock) =>
                change({ ...rule, logic: { ...rule.logic, silenceLogicBlock } })
              }
            />
          )}
        </NodeCard>
      )}
    </Lane>
  );
}

interface SilenceFormProps {
  readonly silence: NonNullable<RuleDraft['logic']['silenceLogicBlock']>;
  readonly change: (silence: SilenceFormProps['silence']) => void;
}

function SilenceForm({ silence, change }: SilenceFormProps) {
  const words = useWords(editorWords);
  return (
    <div className={styles['fields']}>
      <MinutesField
        label={words.silentAfter}
        hint={words.silentAfterHint}
        value={silence.after ?? ''}
        change={(after) => change({ ...silence, after: after || null })}
      />
      <SelectField
        label={words.silentMode}
        value={silence.mode}
        onChange={({ currentTarget }) =>
          change({ ...silence, mode: currentTarget.value === 'ALL' ? 'ALL' : 'EACH' })
        }
      >
        <option value="EACH">{words.silentModes.EACH}</option>
        <option value="ALL">{words.silentModes.ALL}</option>
      </SelectField>
    </div>
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
      <Lasting {...props} />
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

/** How long the block has to be met and over, and the value at which it ends. */
function Lasting({ rule, change, block, at }: BlockProps) {
  const words = useWords(editorWords);
  const operator = clearOperatorOf(rule, block);
  const limit = clearLimitOf(block);
  const isOther = block.clearConditions !== undefined && limit === undefined;
  return (
    <div className={styles['fields']}>
      <MinutesField
        label={words.holdsFor}
        hint={words.holdsForHint}
        value={block.holdsFor ?? ''}
        change={(typed) => change(withDuration(rule, at, 'holdsFor', typed))}
      />
      {operator !== undefined && !isOther && (
        <TextField
          label={words.until(words.operators[operator])}
          hint={words.untilHint}
          type="number"
          step="any"
          defaultValue={limit ?? ''}
          onChange={({ currentTarget: { valueAsNumber } }) =>
            change(withClearLimit(rule, at, finite(valueAsNumber)))
          }
        />
      )}
      {isOther && <p className="mute">{words.endsOther}</p>}
      <MinutesField
        label={words.clearsFor}
        hint={words.clearsForHint}
        value={block.clearsFor ?? ''}
        change={(typed) => change(withDuration(rule, at, 'clearsFor', typed))}
      />
    </div>
  );
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

/** Which actions this block fires; asked for only when there are several blocks. */
function Fires({ rule, change, block, at }: BlockProps) {
  const words = useWords(editorWords);
  return (
    <fieldset>
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

// Logic as JSON: fences and scripts, whose members the interface reference describes.

interface LogicJsonProps {
  readonly logic: RuleDraft['logic'];
  readonly change: (logic: RuleDraft['logic']) => void;
}

/** The input is kept as typed; it counts while it is a JSON object. */
function LogicJson({ logic, change }: LogicJsonProps) {
  const words = useWords(editorWords);
  const [typed, setTyped] = useState(() => JSON.stringify(logic, null, 2));
  return (
    <TextArea
      label={words.logicJson}
      hint={words.logicHint}
      error={logicIn(typed) === undefined ? words.notJson : undefined}
      rows={14}
      spellCheck={false}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        const read = logicIn(currentTarget.value);
        if (read !== undefined) change(read);
      }}
    />
  );
}

function logicIn(text: string): RuleDraft['logic'] | undefined {
  try {
    const value = JSON.parse(text) as RuleDraft['logic'] | null;
    return Array.isArray(value?.dataSources) ? value : undefined;
  } catch {
    return undefined;
  }
}

// When lane: the devices and tags that the rule reads, and its timer.

function WhenLane(props: LaneProps) {
  const { workspaceId, rule, change, open, setOpen } = props;
  const words = useWords(editorWords);
  return (
    <Lane
      title={words.when}
      foot={
        <AddForm label={words.addInput}>
          {(done) => (
            <AddInput
              workspaceId={workspaceId}
              add={(input) => {
                change(withInput(rule, input));
                done();
              }}
            />
          )}
        </AddForm>
      }
    >
      {rule.inputs.map((input) => (
        <NodeCard
          key={input.id}
          name={`when ${input.id}`}
          open={open}
          setOpen={setOpen}
          icon={inputIcons[input.type]}
          title={input.name ?? input.id}
          note={noteOf(rule, input, words)}
          removeLabel={words.takeOut}
          remove={() => change(withoutInput(rule, input.id))}
        >
          <p className="mute mono">{input.id}</p>
        </NodeCard>
      ))}
      {rule.logic.type !== 'SILENCE' && <TimerCard {...props} />}
    </Lane>
  );
}

const inputIcons: Readonly<Record<RuleInput['type'], ReactNode>> = {
  DEVICE: <Cpu aria-hidden="true" />,
  ASSET_TAG: <Tag aria-hidden="true" />,
  TAG_COMBINATION: <Tag aria-hidden="true" />,
  PLACE: <MapPin aria-hidden="true" />,
};

interface NoteWords {
  readonly tagged: string;
  readonly combination: string;
  readonly placed: string;
}

/** What the rule reads of the input: topics and keys. */
function noteOf(rule: RuleDraft, input: RuleInput, words: NoteWords) {
  if (input.type === 'PLACE') return words.placed;
  if (input.type === 'ASSET_TAG') return words.tagged;
  if (input.type === 'TAG_COMBINATION') return words.combination;
  const read = rule.logic.dataSources.filter(({ inputIds }) => inputIds.includes(input.id));
  return [
    ...new Set(read.map(({ dataTopic, dataKey }) => `${dataTopic} · ${dataKey || '…'}`)),
  ].join(', ');
}

interface AddInputProps {
  readonly workspaceId: string;
  readonly add: (input: RuleInput) => void;
}

function AddInput({ workspaceId, add }: AddInputProps) {
  const words = useWords(editorWords);
  const tags = useQuery(tagsOf(workspaceId));
  const known = tags.data?.content ?? [];
  const places = useQuery(placesOf(workspaceId)).data ?? [];
  const input = { tagCombination: null, workspaceId: null };
  return (
    <>
      <DevicePick
        workspaceId={workspaceId}
        label={words.device}
        choose={({ id, name }) => add({ ...input, id, name, type: 'DEVICE' })}
      />
      {known.length > 0 && (
        <SelectField
          label={words.tag}
          value=""
          onChange={({ currentTarget: { value } }) => {
            const tag = known.find(({ id }) => id === value);
            if (tag !== undefined) add({ ...input, id: tag.id, name: tag.name, type: 'ASSET_TAG' });
          }}
        >
          <option value="">{words.chooseTag}</option>
          {known.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      {places.length > 0 && (
        <SelectField
          label={words.place}
          value=""
          onChange={({ currentTarget: { value } }) => {
            const place = places.find(({ id }) => id === value);
            if (place !== undefined)
              add({ ...input, id: place.id, name: place.name, type: 'PLACE' });
          }}
        >
          <option value="">{words.choosePlace}</option>
          {places.map(({ id, path }) => (
            <option key={id} value={id}>
              {path}
            </option>
          ))}
        </SelectField>
      )}
    </>
  );
}

const timerTypes = ['INTERVAL', 'FIXED', 'ADVANCED'] as const;
const firstSchedules = { INTERVAL: 'PT15M', FIXED: '07:00', ADVANCED: '0 0 7 ? * MON-FRI' };

function TimerCard({ rule, change, open, setOpen }: LaneProps) {
  const words = useWords(editorWords);
  const { timer } = rule;
  const type = timer.enabled ? timer.type : null;
  const choose = (value: string) => {
    const chosen = timerTypes.find((one) => one === value) ?? null;
    const schedule = chosen === null ? null : firstSchedules[chosen];
    change({ ...rule, timer: { ...timer, enabled: chosen !== null, type: chosen, schedule } });
  };
  return (
    <NodeCard
      name="when timer"
      open={open}
      setOpen={setOpen}
      icon={<Clock aria-hidden="true" />}
      title={words.timer}
      note={type === null ? words.timerOff : `${words.timerTypes[type]} ${timer.schedule ?? ''}`}
    >
      <SelectField
        label={words.timerKind}
        value={type ?? ''}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{words.timerOff}</option>
        {timerTypes.map((one) => (
          <option key={one} value={one}>
            {words.timerTypes[one]}
          </option>
        ))}
      </SelectField>
      {type !== null && (
        <>
          <TextField
            label={words.schedule}
            hint={words.scheduleHints[type]}
            value={timer.schedule ?? ''}
            onChange={({ currentTarget }) =>
              change({ ...rule, timer: { ...timer, schedule: currentTarget.value } })
            }
          />
          <TextField
            label={words.zone}
            hint={words.zoneHint}
            value={timer.timeZone ?? ''}
            onChange={({ currentTarget }) =>
              change({ ...rule, timer: { ...timer, timeZone: currentTarget.value || null } })
            }
          />
        </>
      )}
    </NodeCard>
  );
}
