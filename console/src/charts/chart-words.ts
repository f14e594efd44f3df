// Words of charts: the legend and the values as a table.
import { wordSet } from '../words/word-set.ts';

export const chartWords = wordSet(
  {
    legend: 'Lines',
    showOnly: 'Show only this line',
    showAll: 'Show all lines',
    asTable: 'Show values as a table',
    values: 'Values of the chart',
    time: 'Time',
    close: 'Close',
  },
  {
    legend: 'Linien',
    showOnly: 'Nur diese Linie zeigen',
    showAll: 'Alle Linien zeigen',
    asTable: 'Werte als Tabelle zeigen',
    values: 'Werte des Diagramms',
    time: 'Zeit',
    close: 'Schließen',
  },
);
