// Alarm actions: acknowledging, clearing and commenting, for one alarm or many, and what is said of it.
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  acknowledgeAlarm,
  type AlarmBulkBody,
  type AlarmMuteBody,
  changeAlarms,
  clearAlarm,
  commentAlarm,
  deleteMute,
  muteAlarm,
} from '../../api/alarm-changes.ts';
import { type Alarm, alarmsKey } from '../../api/alarms.ts';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { alarmsWords } from './alarms-words.ts';

type Named = Pick<Alarm, 'id' | 'name'>;

/** The alarms of a selection: their ids, or the filter of the list. */
export type AlarmTargets = Pick<AlarmBulkBody, 'filter' | 'ids'>;

export interface AlarmActions {
  readonly acknowledge: (alarm: Named) => Promise<void>;
  readonly clear: (alarm: Named, reason: string) => Promise<void>;
  readonly comment: (alarm: Named, content: string) => Promise<void>;
  readonly mute: (alarm: Named, body: AlarmMuteBody) => Promise<void>;
  readonly unmute: (alarm: Named, muteId: string) => Promise<void>;
  readonly acknowledgeMany: (targets: AlarmTargets) => Promise<void>;
  /** One request after the other. */
  readonly commentMany: (alarms: readonly Named[], content: string) => Promise<void>;
  readonly clearMany: (targets: AlarmTargets, reason: string) => Promise<void>;
}

/** None of them rejects: a refusal is shown. */
export function useAlarmActions(workspaceId: string): AlarmActions {
  const words = useWords(alarmsWords);
  const { count } = useFormats();
  const known = useQueryClient();
  return useMemo(() => {
    const said = async (request: Promise<unknown>, sentence: (answer: unknown) => string) => {
      try {
        toast(sentence(await request));
      } catch (error) {
        toastFailure(error as Error);
      }
      void known.invalidateQueries({ queryKey: ['overview', workspaceId] });
      await known.invalidateQueries({ queryKey: alarmsKey(workspaceId) });
    };
    const many = (body: AlarmBulkBody, done: (count: string, many: number) => string) => {
      const answer = async () => {
        const { changed, refused } = await changeAlarms(body);
        const [first] = refused;
        const changedOnes = done(count(changed), changed);
        if (first === undefined) return changedOnes;
        return words.refused(changedOnes, count(refused.length), first.reason);
      };
      return said(answer(), String);
    };
    return {
      acknowledge: ({ id, name }) => said(acknowledgeAlarm(id), () => words.acknowledged(name)),
      clear: ({ id, name }, reason) => said(clearAlarm(id, reason), () => words.cleared(name)),
      comment: ({ id }, content) => said(commentAlarm(id, content), () => words.commented),
      mute: ({ id, name }, body) => said(muteAlarm(id, body), () => words.muted(name)),
      unmute: ({ name }, muteId) => said(deleteMute(muteId), () => words.unmuted(name)),
      commentMany: (alarms, content) => said(commentAll(alarms, content), () => words.commented),
      acknowledgeMany: (targets) =>
        many({ action: 'ACKNOWLEDGE', ...targets }, words.acknowledgedMany),
      clearMany: (targets, reason) =>
        many(
          { action: 'CLEAR', ...targets, ...(reason === '' ? {} : { reason }) },
          words.clearedMany,
        ),
    };
  }, [workspaceId, words, count, known]);
}

async function commentAll(alarms: readonly Named[], content: string): Promise<void> {
  for (const { id } of alarms) await commentAlarm(id, content);
}

// Life of an alarm: its events in their order, as the record keeps them.

export interface LifeEvent {
  readonly kind: 'ACKNOWLEDGED' | 'CLEARED' | 'COMMENTED' | 'COUNTED' | 'ESCALATED' | 'OPENED';
  readonly at: string;
  /** Null for what the platform did. */
  readonly by: string | null;
  /** A comment, or the reason for clearing. */
  readonly content: string | null;
}

/** The oldest first; of further triggers the record keeps the number and the last one. */
export function lifeOf(alarm: Alarm): readonly LifeEvent[] {
  const { count, firstTriggered, lastTriggered, acknowledged, cleared, escalated } = alarm;
  const event = (kind: LifeEvent['kind'], at: string, by: string | null = null): LifeEvent => {
    return { kind, at, by, content: null };
  };
  const events: LifeEvent[] = [
    ...alarm.comments.map(({ at, by, text }) => {
      return { kind: 'COMMENTED' as const, at, by: by.name, content: text };
    }),
    ...(count > 1 ? [event('COUNTED', lastTriggered)] : []),
    ...(escalated === null ? [] : [event('ESCALATED', escalated)]),
    ...(acknowledged === null
      ? []
      : [event('ACKNOWLEDGED', acknowledged.at, acknowledged.by.name)]),
    ...(cleared === null
      ? []
      : [{ ...event('CLEARED', cleared.at, cleared.by?.name ?? null), content: cleared.reason }]),
  ];
  return [
    event('OPENED', firstTriggered),
    ...events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)),
  ];
}
