// When lane: the devices and tags that the rule reads, and its timer.
import { useQuery } from '@tanstack/react-query';
import { Clock, Cpu, Tag } from 'lucide-react';
import { tagsOf } from '../../api/tags.ts';
import { DevicePick } from '../../parts/device-pick.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { AddForm, Lane } from '../../parts/lanes/lane.tsx';
import { NodeCard } from '../../parts/lanes/node-card.tsx';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import type { LaneProps } from './lanes.tsx';
import { type RuleDraft, type RuleInput, withInput, withoutInput } from './rule-model.ts';

export function WhenLane(props: LaneProps) {
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
          icon={input.type === 'DEVICE' ? <Cpu aria-hidden="true" /> : <Tag aria-hidden="true" />}
          title={input.name ?? input.id}
          note={noteOf(rule, input, words)}
          removeLabel={words.takeOut}
          remove={() => change(withoutInput(rule, input.id))}
        >
          <p className="mute mono">{input.id}</p>
        </NodeCard>
      ))}
      <TimerCard {...props} />
    </Lane>
  );
}

/** What the rule reads of the input: topics and keys. */
function noteOf(rule: RuleDraft, input: RuleInput, words: { tagged: string; combination: string }) {
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
