// Words of choosing a range of time.
import { wordSet } from '../words/word-set.ts';

export const rangeWords = wordSet(
  {
    range: 'Range',
    custom: 'Custom',
    from: 'From',
    to: 'To',
    show: 'Show',
    zoomBack: 'Zoom back',
  },
  {
    range: 'Zeitraum',
    custom: 'Eigener',
    from: 'Von',
    to: 'Bis',
    show: 'Zeigen',
    zoomBack: 'Zurück',
  },
);
