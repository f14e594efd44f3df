// Wires: lines between the cards of neighboring lanes.
import { type RefObject, useEffect, useState } from 'react';
import styles from './lanes.module.css';

/** Names of the cards at both ends. */
export type Wire = readonly [from: string, to: string];

interface WiresProps {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly wires: readonly Wire[];
}

/** Drawn again whenever a card moves or changes its size. */
export function Wires({ box, wires }: WiresProps) {
  const [paths, setPaths] = useState<readonly string[]>([]);
  const key = JSON.stringify(wires);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const draw = () =>
      setPaths((JSON.parse(key) as Wire[]).flatMap(([from, to]) => pathOf(element, from, to)));
    const sizes = new ResizeObserver(draw);
    for (const card of element.querySelectorAll('[data-wire]')) sizes.observe(card);
    sizes.observe(element);
    draw();
    return () => sizes.disconnect();
  }, [box, key]);
  return (
    <svg className={styles['wires']} aria-hidden="true">
      {paths.map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  );
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
