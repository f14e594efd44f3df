// Words of the map of a workspace.
import { plural, wordSet } from '../../words/word-set.ts';

export const mapPageWords = wordSet(
  {
    title: 'Map',
    shown: (shown: string, count: number, total: string) =>
      `${shown} of ${total} ${plural(count, 'device', 'devices')} on the map`,
    cut: (count: string) => `the first ${count} are shown; search to see others`,
    search: 'Search devices',
    state: 'State',
    all: 'All',
    withoutFilter: 'Without the filter',
    list: 'Devices in view',
    listCount: (shown: string) => `${shown} in view`,
    noneInView: 'No device is in view.',
    empty: 'No device has told its position yet',
    emptyNote:
      'A device appears here when its data has the numbers latitude and longitude, or its network server knows where it is.',
    noMatch: 'No device matches',
    noMatchNote: 'Search for another name, or choose all states.',
    open: 'Open',
    close: 'Close',
    lastHeard: 'Last seen',
    position: 'Position',
    known: 'Position told',
    withLast: 'with the last uplink',
  },
  {
    title: 'Karte',
    shown: (shown: string, count: number, total: string) =>
      `${shown} von ${total} ${plural(count, 'Gerät', 'Geräten')} auf der Karte`,
    cut: (count: string) => `gezeigt sind die ersten ${count}; suchen Sie nach anderen`,
    search: 'Geräte suchen',
    state: 'Zustand',
    all: 'Alle',
    withoutFilter: 'Ohne den Filter',
    list: 'Geräte im Ausschnitt',
    listCount: (shown: string) => `${shown} im Ausschnitt`,
    noneInView: 'Im Ausschnitt ist kein Gerät.',
    empty: 'Noch hat kein Gerät seine Position gemeldet',
    emptyNote:
      'Ein Gerät erscheint hier, wenn seine Daten die Zahlen latitude und longitude haben oder sein Netzserver weiß, wo es ist.',
    noMatch: 'Kein Gerät passt',
    noMatchNote: 'Suchen Sie nach einem anderen Namen, oder wählen Sie alle Zustände.',
    open: 'Öffnen',
    close: 'Schließen',
    lastHeard: 'Zuletzt gesehen',
    position: 'Position',
    known: 'Position gemeldet',
    withLast: 'mit dem letzten Uplink',
  },
);
