// Words of choosing a range of time.
import { wordSet } from '../words/word-set.ts';

export const rangeWords = wordSet(
  {
    range: 'Time range',
    custom: 'Custom',
    from: 'From',
    to: 'To',
    show: 'Apply',
    zoomBack: 'Reset zoom',
  },
  {
    range: 'Zeitraum',
    custom: 'Benutzerdefiniert',
    from: 'Von',
    to: 'Bis',
    show: 'Anwenden',
    zoomBack: 'Zoom zurücksetzen',
  },
);
