// Words of the time machine.
import { wordSet } from '../words/word-set.ts';

export const timeMachineWords = wordSet(
  {
    start: 'Time machine',
    title: (at: string, zone: string) => `As of ${at} (${zone})`,
    slider: 'Move through the range',
    moment: 'Date and time',
    leave: 'Back to now',
  },
  {
    start: 'Zeitmaschine',
    title: (at: string, zone: string) => `Stand von ${at} (${zone})`,
    slider: 'Durch den Zeitraum bewegen',
    moment: 'Datum und Uhrzeit',
    leave: 'Zurück zu jetzt',
  },
);
