// Words of the open alarms on the home page, loaded with them.
import { wordSet } from '../../words/word-set.ts';

export const alarmNeedsWords = wordSet(
  {
    allAlarms: (count: string) => `View all ${count} open alarms`,
    acknowledge: (name: string) => `Acknowledge ${name}`,
    acknowledged: (name: string) => `${name} acknowledged`,
  },
  {
    allAlarms: (count: string) => `Alle ${count} offenen Alarme anzeigen`,
    acknowledge: (name: string) => `${name} bestätigen`,
    acknowledged: (name: string) => `${name} bestätigt`,
  },
);
