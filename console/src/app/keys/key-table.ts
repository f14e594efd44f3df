// Key table: every key of the console, for what listens, for the help, and for the names of buttons.
import { type Place, placeGroups } from '../shell/navigation.ts';
import type { keyWords } from '../../ui/key-words.ts';
import type { KeyName } from '../../ui/keys.ts';

export type KeyGroupName = keyof (typeof keyWords)['en']['groups'];

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

export function placeOfKey(key: string): Place | undefined {
  return places.find((place) => place.key === key);
}

const isMac = navigator.userAgent.includes('Mac OS');

/** The name of Ctrl on this machine. */
export const controlName = isMac ? '⌘' : 'Ctrl';
