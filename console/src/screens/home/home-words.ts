// Words of the home page.
import { grouped } from '../../words/formats.ts';
import { plural, wordSet } from '../../words/word-set.ts';

export const homeWords = wordSet(
  {
    title: 'Home',
    quiet: 'All good. Every device is reporting.',
    empty: 'No device is registered yet.',
    silentDevices: (many: number) =>
      plural(many, 'One device is offline.', `${grouped(many)} devices are offline.`),
    openAlarms: (many: number) =>
      plural(many, 'One alarm is open.', `${grouped(many)} alarms are open.`),
    failingOutputs: (many: number, first: string) =>
      plural(many, `${first} takes no deliveries.`, `${grouped(many)} outputs take no deliveries.`),
    failedDeliveries: (many: number) =>
      plural(many, 'One delivery failed.', `${grouped(many)} deliveries failed.`),
    failedScripts: (many: number) =>
      plural(many, 'A decoder failed once.', `Decoders failed ${grouped(many)} times.`),
    failingOutput: (name: string) => `Takes no deliveries: ${name}`,
    refused: (deviceId: string) => `Refused: ${deviceId}`,
    refusedSender: 'Uplinks are refused',
    refusedUplinks: 'Uplinks were refused in the last 24 hours.',
    heard: (online: string, total: string) => `${online} of ${total} devices online`,
    register: 'Register a device',
    firstReading: 'Send the first sample',
    alive: 'Devices online',
    of: (total: string) => `of ${total}`,
    rate: 'Samples per minute',
    kept: 'Samples stored',
    inBytes: (bytes: string) => `in ${bytes}`,
    failing: 'Failed deliveries',
    inDay: 'in 24 h',
    waiting: (count: string) => `${count} waiting`,
    arriving: 'Live data',
    since: (at: string) => `since ${at}`,
    sinceWith: (at: string, count: number) =>
      `since ${at}, with the last ${count === 1 ? '' : `${grouped(count)} `}before`,
    waitingForSample: 'Waiting for the next sample…',
    needs: 'Needs attention',
    nothing: 'Nothing needs your attention.',
    failed: 'Deliveries failed in 24 h',
    scripts: 'Script errors in 24 h',
    lowBattery: (name: string) => `Low battery: ${name}`,
    silent: (name: string) => `Offline: ${name}`,
    pause: 'Pause',
    resume: 'Resume',
  },
  {
    title: 'Start',
    quiet: 'Alles in Ordnung. Alle Geräte melden sich.',
    empty: 'Noch kein Gerät registriert.',
    silentDevices: (many: number) =>
      plural(many, 'Ein Gerät ist offline.', `${grouped(many)} Geräte sind offline.`),
    openAlarms: (many: number) =>
      plural(many, 'Ein Alarm ist offen.', `${grouped(many)} Alarme sind offen.`),
    failingOutputs: (many: number, first: string) =>
      plural(many, `${first} nimmt nichts an.`, `${grouped(many)} Ausgänge nehmen nichts an.`),
    failedDeliveries: (many: number) =>
      plural(
        many,
        'Eine Lieferung ist gescheitert.',
        `${grouped(many)} Lieferungen sind gescheitert.`,
      ),
    failedScripts: (many: number) =>
      plural(
        many,
        'Ein Decoder hat einmal versagt.',
        `Decoder haben ${grouped(many)}-mal versagt.`,
      ),
    failingOutput: (name: string) => `Nimmt nichts an: ${name}`,
    refused: (deviceId: string) => `Abgelehnt: ${deviceId}`,
    refusedSender: 'Uplinks werden abgelehnt',
    refusedUplinks: 'In den letzten 24 Stunden wurden Uplinks abgelehnt.',
    heard: (online: string, total: string) => `${online} von ${total} Geräten online`,
    register: 'Gerät registrieren',
    firstReading: 'Ein erster Messwert, in einer Minute',
    alive: 'Geräte online',
    of: (total: string) => `von ${total}`,
    rate: 'Messwerte pro Minute',
    kept: 'Gespeicherte Messwerte',
    inBytes: (bytes: string) => `in ${bytes}`,
    failing: 'Gescheiterte Lieferungen',
    inDay: 'in 24 h',
    waiting: (count: string) => `${count} warten`,
    arriving: 'Live-Daten',
    since: (at: string) => `seit ${at}`,
    sinceWith: (at: string, count: number) =>
      count === 1
        ? `seit ${at}, mit dem letzten davor`
        : `seit ${at}, mit den letzten ${grouped(count)} davor`,
    waitingForSample: 'Wartet auf den nächsten Messwert…',
    needs: 'Zu erledigen',
    nothing: 'Nichts. Genießen Sie es.',
    failed: 'Gescheiterte Lieferungen in 24 h',
    scripts: 'Skriptfehler in 24 h',
    lowBattery: (name: string) => `Batterie schwach: ${name}`,
    silent: (name: string) => `Offline: ${name}`,
    pause: 'Anhalten',
    resume: 'Fortsetzen',
  },
);
