// Keys of the whole console: their table, and one listener, which asks the table what a key means.
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { useWorkspaceId } from '../../session/session.ts';
import { actionOf, hasSingleKeys, isTyping, type KeyName } from '../../ui/keys.ts';
import { openPalette } from '../palette/palette-state.ts';
import { type Place, placeGroups } from '../shell/navigation.ts';
import type { keyWords } from '../../ui/key-words.ts';

// Key table: every key of the console, for what listens, for the help, and for the names of buttons.

type KeyGroupName = keyof (typeof keyWords)['en']['groups'];

export interface KeyRow {
  readonly name: KeyName;
  /** As `KeyboardEvent.key` has them; any of them does it. */
  readonly keys: readonly string[];
  /** With Ctrl, or Cmd on a Mac. */
  readonly isWithControl?: boolean;
}

export interface KeyGroup {
  readonly name: KeyGroupName;
  readonly rows: readonly KeyRow[];
}

export const keyGroups: readonly KeyGroup[] = [
  {
    name: 'everywhere',
    rows: [
      { name: 'palette', keys: ['k'], isWithControl: true },
      { name: 'help', keys: ['?'] },
      { name: 'actions', keys: ['.'] },
      { name: 'curl', keys: ['c'] },
      { name: 'back', keys: ['Escape'] },
    ],
  },
  {
    name: 'lists',
    rows: [
      { name: 'find', keys: ['/'] },
      { name: 'move', keys: ['j', 'k'] },
      { name: 'select', keys: ['x'] },
      { name: 'open', keys: ['Enter'] },
      { name: 'tags', keys: ['e'] },
    ],
  },
  {
    name: 'alarms',
    rows: [
      { name: 'acknowledge', keys: ['e'] },
      { name: 'clearAlarm', keys: ['y'] },
    ],
  },
  {
    name: 'charts',
    rows: [
      { name: 'earlier', keys: ['['] },
      { name: 'later', keys: [']'] },
      { name: 'zoomIn', keys: ['+'] },
      { name: 'zoomOut', keys: ['-'] },
      { name: 'live', keys: ['l'] },
    ],
  },
  {
    name: 'editors',
    rows: [
      { name: 'save', keys: ['s'], isWithControl: true },
      { name: 'run', keys: ['Enter'], isWithControl: true },
    ],
  },
];

/** First of two keys; the second is that of a place. */
export const goKey = 'g';

const places = placeGroups.flatMap((group) => group.places);

function placeOfKey(key: string): Place | undefined {
  return places.find((place) => place.key === key);
}

const isMac = navigator.userAgent.includes('Mac OS');

/** The name of Ctrl on this machine. */
export const controlName = isMac ? '⌘' : 'Ctrl';

// Row steps: `j` and `k` in the list of a page, whichever kind of table it is.

const rowControl = 'a[href], button:not(:disabled)';

/** Gives the grid of the page the focus and the key; undefined on a page without one. */
function gridAction(key: string): (() => void) | undefined {
  const grid = document.querySelector<HTMLElement>('main [role="grid"]');
  if (grid === null || grid === document.activeElement) return undefined;
  return () => {
    grid.focus();
    grid.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  };
}

/** Into the grid, which then handles the keys itself; else from row to row of a table. */
function stepRow(key: string): void {
  const inGrid = gridAction(key);
  if (inGrid !== undefined) return inGrid();
  const rows = [...document.querySelectorAll<HTMLElement>('main tbody tr, main ul[data-rows] li')];
  const open = rows.filter((row) => row.checkVisibility() && row.querySelector(rowControl));
  const at = open.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? open[0] : open[at + (key === 'j' ? 1 : -1)];
  const control = next?.querySelector<HTMLElement>(rowControl);
  control?.focus();
  control?.scrollIntoView({ block: 'nearest' });
}

const secondWithinMs = 1_000;
const home = '/w/$workspaceId';

/** `showHelp` shows the dialog of all keys. */
export function useKeys(showHelp: () => void): void {
  const go = useGo();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event) || !isOn(event.key) || isBehindDialog()) return;
      const act = go(event) ?? actionFor(nameOf(event.key), event, showHelp);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [go, showHelp]);
}

/** A dialog without focus, such as after its button was disabled, still has the keys. */
function isBehindDialog(): boolean {
  return document.querySelector('dialog[open], :popover-open') !== null;
}

function isOn(key: string): boolean {
  return key.length > 1 || hasSingleKeys();
}

const single = keyGroups.flatMap(({ rows }) => rows).filter((row) => row.isWithControl !== true);

function nameOf(key: string): KeyName | undefined {
  return single.find(({ keys }) => keys.includes(key))?.name;
}

function actionFor(
  name: KeyName | undefined,
  { key }: KeyboardEvent,
  showHelp: () => void,
): (() => void) | undefined {
  // Enter belongs to the list or the control that has the focus.
  if (name === undefined || name === 'open') return undefined;
  if (name === 'help') return showHelp;
  if (name === 'move') return () => stepRow(key);
  if (name === 'select') return gridAction(key);
  const own = actionOf(name);
  if (own !== undefined) return own;
  const button = buttonOf(key);
  if (button !== undefined) return () => (isField(button) ? button.focus() : button.click());
  if (name === 'tags') return gridAction(key);
  if (name === 'actions') return () => openPalette('>');
  if (name === 'back') return levelUp();
  return undefined;
}

/** The button or field that names the key as its own. */
function buttonOf(key: string): HTMLElement | undefined {
  const all = document.querySelectorAll<HTMLElement>('main [aria-keyshortcuts]');
  return [...all].find((element) => {
    const shortcuts = element.getAttribute('aria-keyshortcuts')?.split(' ') ?? [];
    return shortcuts.includes(key) && element.checkVisibility() && !element.matches(':disabled');
  });
}

function isField(element: HTMLElement): boolean {
  return element.matches('input, textarea, select');
}

/** The last link of the path in the top bar. */
function levelUp(): (() => void) | undefined {
  const link = [...document.querySelectorAll<HTMLElement>('header [data-path] a')].at(-1);
  return link === undefined ? undefined : () => link.click();
}

/** `g` and then the key of a place. */
function useGo(): (event: KeyboardEvent) => (() => void) | undefined {
  const navigate = useNavigate();
  const workspaceId = useWorkspaceId();
  const firstAtMs = useRef(Number.NEGATIVE_INFINITY);
  return useCallback(
    ({ key, timeStamp }) => {
      const isSecond = timeStamp - firstAtMs.current < secondWithinMs;
      firstAtMs.current = key === goKey ? timeStamp : Number.NEGATIVE_INFINITY;
      const place = isSecond ? placeOfKey(key) : undefined;
      if (place === undefined) return undefined;
      const to = (place.path === '' ? home : `${home}/${place.path}`) as typeof home;
      return () => void navigate({ to, params: { workspaceId } });
    },
    [navigate, workspaceId],
  );
}
