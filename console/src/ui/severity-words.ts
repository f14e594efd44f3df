// Words of severities and states of alarms.
import { wordSet } from '../words/word-set.ts';

export const severityWords = wordSet(
  {
    severities: {
      CRITICAL: 'Critical',
      MAJOR: 'Major',
      MINOR: 'Minor',
      WARNING: 'Warning',
      INFO: 'Info',
    },
    states: { OPEN: 'Open', ACKNOWLEDGED: 'Acknowledged', CLEARED: 'Cleared' },
  },
  {
    severities: {
      CRITICAL: 'Kritisch',
      MAJOR: 'Schwer',
      MINOR: 'Leicht',
      WARNING: 'Warnung',
      INFO: 'Hinweis',
    },
    states: { OPEN: 'Offen', ACKNOWLEDGED: 'Bestätigt', CLEARED: 'Behoben' },
  },
);
