// Words of the map of a workspace.
import { plural, wordSet } from '../../words/word-set.ts';

export const mapPageWords = wordSet(
  {
    title: 'Map',
    shown: (shown: string, count: number, total: string) =>
      `${shown} of ${total} ${plural(count, 'device', 'devices')} on the map`,
    cut: (count: string) => `Showing the first ${count}. Search to find others.`,
    search: 'Search devices',
    state: 'Status',
    all: 'All',
    withoutFilter: 'Clear filter',
    list: 'Devices in view',
    listCount: (shown: string) => `${shown} in view`,
    noneInView: 'No devices in view',
    empty: 'No device positions yet',
    emptyNote:
      'Devices appear here when their data includes numeric latitude and longitude, or their network server reports a location.',
    emptyThen: 'No device positions at that time',
    past: 'Positions and status are those of that time. Names and filters are those of today.',
    noMatch: 'No matching devices',
    noMatchNote: 'Try another search or status.',
    open: 'Open',
    close: 'Close',
    lastHeard: 'Last seen',
    position: 'Position',
    known: 'Position reported',
    withLast: 'with the last uplink',
  },
  {
    title: 'Karte',
    shown: (shown: string, count: number, total: string) =>
      `${shown} von ${total} ${plural(count, 'Gerät', 'Geräten')} auf der Karte`,
    cut: (count: string) =>
      `Die ersten ${count} werden angezeigt. Andere finden Sie über die Suche.`,
    search: 'Geräte suchen',
    state: 'Status',
    all: 'Alle',
    withoutFilter: 'Filter entfernen',
    list: 'Geräte im Ausschnitt',
    listCount: (shown: string) => `${shown} im Ausschnitt`,
    noneInView: 'Keine Geräte im Ausschnitt',
    empty: 'Noch keine Gerätepositionen',
    emptyNote:
      'Geräte erscheinen hier, wenn ihre Daten die Zahlen latitude und longitude enthalten oder ihr Netzwerkserver einen Standort meldet.',
    emptyThen: 'Keine Gerätepositionen zu dieser Zeit',
    past: 'Positionen und Status sind die dieser Zeit. Namen und Filter sind die von heute.',
    noMatch: 'Keine passenden Geräte',
    noMatchNote: 'Versuchen Sie eine andere Suche oder einen anderen Status.',
    open: 'Öffnen',
    close: 'Schließen',
    lastHeard: 'Zuletzt gesehen',
    position: 'Position',
    known: 'Position gemeldet',
    withLast: 'mit dem letzten Uplink',
  },
);
