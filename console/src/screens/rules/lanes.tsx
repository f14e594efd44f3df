// Lanes: When, If and Then side by side, joined by lines; arrow keys move between their cards.
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import { IfLane } from './if-lane.tsx';
import type { RuleDraft } from './rule-model.ts';
import styles from './rules.module.css';
import { ThenLane } from './then-lane.tsx';
import { WhenLane } from './when-lane.tsx';
import { Wires } from './wires.tsx';

export interface LaneProps {
  readonly workspaceId: string;
  readonly rule: RuleDraft;
  readonly change: (rule: RuleDraft) => void;
  /** Name of the card whose form is open. */
  readonly open: string | undefined;
  readonly setOpen: (name: string | undefined) => void;
}

type LanesProps = Omit<LaneProps, 'open' | 'setOpen'>;

export function Lanes(props: LanesProps) {
  const words = useWords(editorWords);
  const hint = useId();
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<string>();
  const lane = { ...props, open, setOpen };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys act on the buttons inside
    <section
      aria-label={words.lanes}
      aria-describedby={hint}
      className={styles['canvas']}
      onKeyDown={(event) => onKey(event, box.current)}
    >
      <div ref={box} className={styles['lanes']}>
        <Wires box={box} rule={props.rule} />
        <WhenLane {...lane} />
        <IfLane {...lane} />
        <ThenLane {...lane} />
      </div>
      <p id={hint} className={styles['keys']}>
        {words.keys}
      </p>
    </section>
  );
}

/** Cards are buttons with `data-node`; a lane is an element with `data-lane`. */
function onKey(event: KeyboardEvent, box: HTMLElement | null): void {
  const node = event.target;
  if (box === null || !(node instanceof HTMLElement) || !node.matches('[data-node]')) return;
  const lanes = [...box.querySelectorAll<HTMLElement>('[data-lane]')].map((lane) => [
    ...lane.querySelectorAll<HTMLElement>('[data-node]'),
  ]);
  const at = lanes.findIndex((nodes) => nodes.includes(node));
  const row = lanes[at]?.indexOf(node) ?? 0;
  const inLane = (lane: number, place: number) =>
    lanes[lane]?.[Math.min(place, (lanes[lane]?.length ?? 1) - 1)];
  const moves: Readonly<Record<string, () => HTMLElement | undefined>> = {
    ArrowDown: () => inLane(at, row + 1),
    ArrowUp: () => lanes[at]?.[row - 1],
    ArrowRight: () => inLane(at + 1, row),
    ArrowLeft: () => inLane(at - 1, row),
  };
  if (event.key === '+') {
    event.preventDefault();
    node.closest('[data-lane]')?.querySelector<HTMLElement>('[data-add]')?.click();
  }
  const target = moves[event.key]?.();
  if (target === undefined) return;
  event.preventDefault();
  target.focus();
}
