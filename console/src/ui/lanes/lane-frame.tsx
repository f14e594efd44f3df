// Lanes: the way of something from the left to the right, joined by lines; arrow keys move between the cards.
import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { useWords } from '../../words/language.tsx';
import { partWords } from '../part-words.ts';
import styles from './lanes.module.css';
import { type Wire, Wires } from './wires.tsx';

interface LaneFrameProps {
  readonly label: string;
  readonly wires: readonly Wire[];
  /** Each a `Lane`. */
  readonly children: ReactNode;
}

export function LaneFrame({ label, wires, children }: LaneFrameProps) {
  const words = useWords(partWords);
  const hint = useId();
  const box = useRef<HTMLDivElement>(null);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys act on the buttons inside
    <section
      aria-label={label}
      aria-describedby={hint}
      className={styles['canvas']}
      onKeyDown={(event) => onKey(event, box.current)}
    >
      <div ref={box} className={styles['lanes']}>
        <Wires box={box} wires={wires} />
        {children}
      </div>
      <p id={hint} className={styles['keys']}>
        {words.laneKeys}
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
