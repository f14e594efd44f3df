// Words of charts: the legend and the values as a table.
import { wordSet } from '../words/word-set.ts';

export const chartWords = wordSet(
  {
    legend: 'Lines',
    figures: { LAST: 'last', MIN: 'min', AVG: 'avg', MAX: 'max', SUM: 'sum' },
    showOnly: 'Show only this line (Shift: add it)',
    showAll: 'Show all lines',
    asTable: 'Show as table',
    values: 'Chart data',
    time: 'Time',
    close: 'Close',
  },
  {
    legend: 'Linien',
    figures: { LAST: 'zuletzt', MIN: 'Min.', AVG: 'Mittel', MAX: 'Max.', SUM: 'Summe' },
    showOnly: 'Nur diese Linie anzeigen (Umschalt: hinzufügen)',
    showAll: 'Alle Linien anzeigen',
    asTable: 'Als Tabelle anzeigen',
    values: 'Diagrammdaten',
    time: 'Zeit',
    close: 'Schließen',
  },
);
