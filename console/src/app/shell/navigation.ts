// Navigation: the places of a workspace, one row each, for the side bar, the palette and the keyboard.
import {
  Activity,
  BellRing,
  Cable,
  Cpu,
  FileCode2,
  House,
  LayoutDashboard,
  type LucideIcon,
  Map,
  MapPin,
  Settings,
  Workflow,
  Zap,
} from 'lucide-react';
import type { shellWords } from './shell-words.ts';

type Word = {
  [K in keyof typeof shellWords.en]: (typeof shellWords.en)[K] extends string ? K : never;
}[keyof typeof shellWords.en];

export interface Place {
  /** Below `/w/<workspace>/`; empty for home. */
  readonly path: string;
  readonly word: Word;
  readonly icon: LucideIcon;
  /** After the key `g`. */
  readonly key: string;
  /** The number at the end of the row. */
  readonly counts?: 'openAlarms';
}

export interface PlaceGroup {
  readonly word?: Word;
  readonly places: readonly Place[];
}

export const placeGroups: readonly PlaceGroup[] = [
  {
    places: [
      { path: '', word: 'home', icon: House, key: 'h' },
      { path: 'devices', word: 'devices', icon: Cpu, key: 'd' },
      { path: 'map', word: 'map', icon: Map, key: 'm' },
      { path: 'places', word: 'places', icon: MapPin, key: 'p' },
      { path: 'dashboards', word: 'dashboards', icon: LayoutDashboard, key: 'b' },
    ],
  },
  {
    word: 'process',
    places: [
      { path: 'types', word: 'types', icon: FileCode2, key: 't' },
      { path: 'flows', word: 'flows', icon: Workflow, key: 'f' },
      { path: 'rules', word: 'rules', icon: Zap, key: 'r' },
      { path: 'outputs', word: 'outputs', icon: Cable, key: 'o' },
    ],
  },
  {
    word: 'watch',
    places: [
      { path: 'alarms', word: 'alarms', icon: BellRing, key: 'a', counts: 'openAlarms' },
      { path: 'activity', word: 'activity', icon: Activity, key: 'i' },
    ],
  },
  { places: [{ path: 'settings', word: 'settings', icon: Settings, key: 's' }] },
];
