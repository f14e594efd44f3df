// Menu: a button that opens a list of actions beside it, for the mouse, the keyboard and touch.
import type { LucideIcon } from 'lucide-react';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { type Need, useMayDo } from '../session/permissions.ts';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import styles from './menu.module.css';
import { partWords } from './part-words.ts';

export interface MenuItem {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
  /** Without this permission it cannot be chosen, and says why. */
  readonly needs?: Need | undefined;
}

interface MenuProps {
  /** Name of the button. */
  readonly label: string;
  readonly icon: LucideIcon;
  /** Shows the label in the button too. */
  readonly isNamed?: boolean;
  readonly items: readonly MenuItem[];
}

/** Escape, a click outside and each action close it, and the button has the focus again. */
export function Menu({ label, icon: Icon, isNamed = false, items }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const toggled = (opened: boolean) => {
    setOpen(opened);
    if (!opened || button.current === null || list.current === null) return;
    place(list.current, button.current.getBoundingClientRect());
    itemsIn(list.current)[0]?.focus();
  };
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const all = itemsIn(event.currentTarget);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = nextOf(event.key, at, all.length);
    if (next === undefined) {
      if (event.key === 'Tab') list.current?.hidePopover();
      return;
    }
    event.preventDefault();
    all[next]?.focus();
  };
  return (
    <>
      <Button
        ref={button}
        look={isNamed ? 'plain' : 'ghost'}
        isIcon={!isNamed}
        aria-label={label}
        title={isNamed ? undefined : label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        <Icon aria-hidden="true" />
        {isNamed && label}
      </Button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className={styles['menu']}
        onToggle={({ newState }) => toggled(newState === 'open')}
        onKeyDown={onKey}
      >
        {items.map((item) => (
          <Item key={item.label} {...item} close={() => list.current?.hidePopover()} />
        ))}
      </div>
    </>
  );
}

interface ItemProps extends MenuItem {
  readonly close: () => void;
}

function Item({ needs, ...item }: ItemProps) {
  return needs === undefined ? <Row {...item} /> : <Gated needs={needs} {...item} />;
}

function Gated({ needs, ...item }: Omit<ItemProps, 'needs'> & { readonly needs: Need }) {
  const words = useWords(partWords);
  return useMayDo(needs) ? <Row {...item} /> : <Row {...item} refusal={words.needs(needs)} />;
}

function Row({
  label,
  icon: Icon,
  run,
  close,
  refusal,
}: ItemProps & { readonly refusal?: string }) {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      // Reached by the arrow keys as well, so that it can say why.
      aria-disabled={refusal !== undefined}
      title={refusal}
      onClick={() => {
        if (refusal !== undefined) return;
        close();
        run();
      }}
    >
      <Icon aria-hidden="true" />
      {label}
    </button>
  );
}

function itemsIn(list: Element): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('[role="menuitem"]')];
}

/** The place of the item that a key leads to. */
function nextOf(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at - 1 + count) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

const gap = 4;

/** Below the button with the same end, above it where there is no room, and inside of the window. */
function place(list: HTMLElement, button: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = list;
  const below = button.bottom + gap;
  const fits = below + height <= innerHeight - gap;
  const top = fits ? below : Math.max(gap, button.top - gap - height);
  const left = Math.min(Math.max(gap, button.right - width), innerWidth - width - gap);
  list.style.top = `${top}px`;
  list.style.left = `${Math.max(gap, left)}px`;
}
