// Lanes: the way of something from the left to the right, joined by lines; arrow keys move between the cards.
import { Plus } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { partWords } from './part-words.ts';
import styles from './lanes.module.css';

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

// Wires: lines between the cards of neighboring lanes.

/** Names of the cards at both ends. */
export type Wire = readonly [from: string, to: string];

interface WiresProps {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly wires: readonly Wire[];
}

/** Drawn again whenever a card moves or changes its size. */
function Wires({ box, wires }: WiresProps) {
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

// Lane: a heading, its cards, and what adds one.

interface LaneProps {
  readonly title: string;
  /** Adds a card. */
  readonly foot?: ReactNode;
  /** Elements of a list. */
  readonly children: ReactNode;
}

export function Lane({ title, foot, children }: LaneProps) {
  return (
    <div data-lane>
      <h2>{title}</h2>
      <ul>{children}</ul>
      {foot}
    </div>
  );
}

/** The key `+` presses it. */
export function AddButton({ label, add }: { readonly label: string; readonly add: () => void }) {
  return (
    <Button look="ghost" data-add onClick={add}>
      <Plus aria-hidden="true" />
      {label}
    </Button>
  );
}

interface AddFormProps {
  readonly label: string;
  /** Fields of the new card; `done` shows the button again. */
  readonly children: (done: () => void) => ReactNode;
}

/** A button, and the fields that it opens in its place. */
export function AddForm({ label, children }: AddFormProps) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen) return <AddButton label={label} add={() => setOpen(true)} />;
  return <div className={styles['add']}>{children(() => setOpen(false))}</div>;
}

// Node card: one card of a lane; it opens a form in place.

/** Which card of the lanes is open. */
export interface OpenCard {
  /** Name of the card whose form is open. */
  readonly open: string | undefined;
  readonly setOpen: (name: string | undefined) => void;
}

interface NodeCardProps extends OpenCard {
  /** Names the card among all; the lines end at it. */
  readonly name: string;
  readonly icon: ReactNode;
  readonly title: ReactNode;
  readonly note: ReactNode;
  readonly removeLabel?: string;
  readonly remove?: (() => void) | undefined;
  readonly children: ReactNode;
}

export function NodeCard(props: NodeCardProps) {
  const { name, icon, title, note, open, setOpen, removeLabel, remove, children } = props;
  const words = useWords(partWords);
  const form = useId();
  const isOpen = open === name;
  return (
    <li className={styles['node']} data-wire={name}>
      <button
        type="button"
        data-node
        aria-expanded={isOpen}
        aria-controls={form}
        onClick={() => setOpen(isOpen ? undefined : name)}
      >
        {icon}
        <span>
          <b>{title}</b>
          <small>{note}</small>
        </span>
      </button>
      <div id={form} hidden={!isOpen} className={styles['form']}>
        {isOpen && (
          <>
            {children}
            <div className="flow wrap gap-8">
              <Button onClick={() => setOpen(undefined)}>{words.done}</Button>
              {remove !== undefined && (
                <Button
                  look="danger"
                  onClick={() => {
                    setOpen(undefined);
                    remove();
                  }}
                >
                  {removeLabel}
                </Button>
              )}
            </div>
          </>
        )}
      </div>
    </li>
  );
}
