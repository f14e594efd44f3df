// Words of the open alarms on the home page, loaded with them.
import { wordSet } from '../../words/word-set.ts';

export const alarmNeedsWords = wordSet(
  {
    allAlarms: (count: string) => `All ${count} open alarms`,
    acknowledge: (name: string) => `Acknowledge ${name}`,
    acknowledged: (name: string) => `${name} is acknowledged`,
  },
  {
    allAlarms: (count: string) => `Alle ${count} offenen Alarme`,
    acknowledge: (name: string) => `${name} bestätigen`,
    acknowledged: (name: string) => `${name} ist bestätigt`,
  },
);
