// Words of charts: the legend and the values as a table.
import { wordSet } from '../words/word-set.ts';

export const chartWords = wordSet(
  {
    legend: 'Lines',
    showOnly: 'Show only this line',
    showAll: 'Show all lines',
    asTable: 'Show as table',
    values: 'Chart data',
    time: 'Time',
    close: 'Close',
  },
  {
    legend: 'Linien',
    showOnly: 'Nur diese Linie anzeigen',
    showAll: 'Alle Linien anzeigen',
    asTable: 'Als Tabelle anzeigen',
    values: 'Diagrammdaten',
    time: 'Zeit',
    close: 'Schließen',
  },
);
