// Words of the note about the zone of times.
import { wordSet } from '../words/word-set.ts';

export const zoneWords = wordSet(
  {
    times: (zone: string) => `Times in ${zone}`,
    why: (own: string) => `This browser is in ${own}. Your account has the setting.`,
  },
  {
    times: (zone: string) => `Zeiten in ${zone}`,
    why: (own: string) => `Dieser Browser ist in ${own}. Die Einstellung ist in Ihrem Konto.`,
  },
);
