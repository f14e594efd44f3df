// Words of the home page at an earlier moment, loaded with it.
import { grouped } from '../../words/formats.ts';
import { wordSet } from '../../words/word-set.ts';

export const homeThenWords = wordSet(
  {
    past: 'Values, status, and open alarms are those of that time. Devices are those of today.',
    offline: 'Devices offline',
    noData: 'No data in the 7 days before',
    alarms: 'Open alarms',
    samples: 'Newest samples',
    noSamples: 'No samples in the 7 days before',
    cut: (most: number) => `Counts only the first ${grouped(most)} by name`,
    allAlarms: 'View alarms at that time',
    allDevices: 'View devices at that time',
  },
  {
    past: 'Werte, Status und offene Alarme sind die dieser Zeit. Die Geräte sind die von heute.',
    offline: 'Geräte offline',
    noData: 'Keine Daten in den 7 Tagen davor',
    alarms: 'Offene Alarme',
    samples: 'Neueste Messwerte',
    noSamples: 'Keine Messwerte in den 7 Tagen davor',
    cut: (most: number) => `Zählt nur die ersten ${grouped(most)} nach Namen`,
    allAlarms: 'Alarme zu dieser Zeit anzeigen',
    allDevices: 'Geräte zu dieser Zeit anzeigen',
  },
);
