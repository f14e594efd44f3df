// Lanes: When, If and Then side by side, joined by lines.
import { useState } from 'react';
import { LaneFrame } from '../../parts/lanes/lane-frame.tsx';
import type { OpenCard } from '../../parts/lanes/node-card.tsx';
import type { Wire } from '../../parts/lanes/wires.tsx';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import { IfLane } from './if-lane.tsx';
import { blocksOf, type RuleDraft } from './rule-model.ts';
import { ThenLane } from './then-lane.tsx';
import { WhenLane } from './when-lane.tsx';

export interface LaneProps extends OpenCard {
  readonly workspaceId: string;
  readonly rule: RuleDraft;
  readonly change: (rule: RuleDraft) => void;
}

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
