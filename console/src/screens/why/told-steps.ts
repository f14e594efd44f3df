// Told steps: what a step of a trace says to readers of another language than that of the platform.
import type { TraceKind, TraceState } from '../../../../src/model/device-trace.ts';
import type { Language } from '../../words/word-set.ts';

/** By the kind of a step that succeeded, or by the state of another one. Codes have words of their own. */
type Told = Readonly<Record<TraceKind, string>> &
  Readonly<Record<Exclude<TraceState, 'OK'>, string>>;

export const toldSteps: Readonly<Partial<Record<Language, Told>>> = {
  de: {
    ARRIVED: 'Der Uplink ist angekommen.',
    REFUSED: 'Der Uplink wurde abgelehnt.',
    DECODED: 'Der Payload wurde gelesen.',
    STORED: 'Der Messwert wurde gespeichert.',
    RULE: 'Die Regel hat den Uplink ausgewertet.',
    ALARM: 'Zum Uplink gehört ein Alarm.',
    DELIVERY: 'Die Nachricht wurde zugestellt.',
    BROKEN: 'Dieser Schritt ist gestört.',
    WAITING: 'Dieser Schritt wartet.',
    SKIPPED: 'Hier gab es nichts zu tun, oder Sie dürfen es nicht lesen.',
    UNKNOWN: 'Dazu ist nichts mehr bekannt.',
  },
};
