// Wires: lines from each input to each condition, and from a condition to the actions that it fires.
import { type RefObject, useEffect, useState } from 'react';
import { blocksOf, type RuleDraft } from './rule-model.ts';
import styles from './rules.module.css';

interface WiresProps {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly rule: RuleDraft;
}

/** Drawn again whenever a card moves or changes its size. */
export function Wires({ box, rule }: WiresProps) {
  const [paths, setPaths] = useState<readonly string[]>([]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const draw = () => setPaths(wiresOf(rule).flatMap(([from, to]) => pathOf(element, from, to)));
    const sizes = new ResizeObserver(draw);
    for (const card of element.querySelectorAll('[data-wire]')) sizes.observe(card);
    sizes.observe(element);
    draw();
    return () => sizes.disconnect();
  }, [box, rule]);
  return (
    <svg className={styles['wires']} aria-hidden="true">
      {paths.map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  );
}

/** Names of the cards at both ends. */
function wiresOf(rule: RuleDraft): readonly (readonly [string, string])[] {
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

const middlePx = 26;

function pathOf(box: HTMLElement, from: string, to: string): readonly string[] {
  const around = box.getBoundingClientRect();
  const placeOf = (name: string) =>
    box.querySelector(`[data-wire="${CSS.escape(name)}"]`)?.getBoundingClientRect();
  const [left, right] = [placeOf(from), placeOf(to)];
  // On a phone the lanes are one below the other, and no line is drawn.
  if (left === undefined || right === undefined || right.left <= left.right) return [];
  const [x1, y1] = [left.right - around.left, left.top - around.top + middlePx];
  const [x2, y2] = [right.left - around.left, right.top - around.top + middlePx];
  const bend = (x2 - x1) / 2;
  return [`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`];
}
