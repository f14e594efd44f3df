// Life card: what happened to the alarm, oldest first, and a field for a comment.
import {
  BellRing,
  Check,
  CircleCheckBig,
  MessageSquare,
  Repeat,
  TriangleAlert,
} from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Alarm } from '../../api/alarms.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { TextArea } from '../../parts/field.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import type { AlarmActions } from './alarm-actions.ts';
import { type LifeEvent, lifeOf } from './alarm-life.ts';
import styles from './alarms.module.css';
import { alarmsWords } from './alarms-words.ts';

interface LifeCardProps {
  readonly alarm: Alarm;
  readonly actions: AlarmActions;
}

export function LifeCard({ alarm, actions }: LifeCardProps) {
  const words = useWords(alarmsWords);
  return (
    <Card title={words.life}>
      <ol className={styles['life']}>
        {lifeOf(alarm).map((event) => (
          <LifeRow key={`${event.kind} ${event.at}`} alarm={alarm} event={event} />
        ))}
      </ol>
      <CommentForm alarm={alarm} actions={actions} />
    </Card>
  );
}

const marks: Readonly<Record<LifeEvent['kind'], readonly [ReactNode, string]>> = {
  OPENED: [<BellRing key="0" aria-hidden="true" />, 'bad'],
  COUNTED: [<Repeat key="1" aria-hidden="true" />, ''],
  ESCALATED: [<TriangleAlert key="2" aria-hidden="true" />, 'bad'],
  ACKNOWLEDGED: [<Check key="3" aria-hidden="true" />, 'warn'],
  COMMENTED: [<MessageSquare key="4" aria-hidden="true" />, ''],
  CLEARED: [<CircleCheckBig key="5" aria-hidden="true" />, 'ok'],
};

function LifeRow({ alarm, event }: { readonly alarm: Alarm; readonly event: LifeEvent }) {
  const words = useWords(alarmsWords);
  const { instant } = useFormats();
  const sentence = useSentence(alarm, event);
  const { kind, at, content } = event;
  const [picture, tone] = marks[kind];
  const reason = (words.reasons as Readonly<Record<string, string>>)[content ?? ''] ?? content;
  return (
    <li>
      <span className={`${styles['mark']} ${styles[tone] ?? ''}`}>{picture}</span>
      <span>{sentence}</span>
      <time className="num" dateTime={at}>
        {instant(at)}
      </time>
      {kind === 'COMMENTED' && <blockquote>{content}</blockquote>}
      {kind === 'CLEARED' && reason !== null && <small>{reason}</small>}
      {kind === 'COUNTED' && <small>{words.lastTrigger}</small>}
    </li>
  );
}

function useSentence({ count }: Alarm, { kind, by }: LifeEvent): string {
  const words = useWords(alarmsWords);
  const formats = useFormats();
  switch (kind) {
    case 'COUNTED':
      return words.countedTimes(formats.count(count));
    case 'ESCALATED':
      return words.escalated;
    case 'ACKNOWLEDGED':
      return words.acknowledgedBy(by ?? '');
    case 'COMMENTED':
      return words.commentBy(by ?? '');
    case 'CLEARED':
      return by === null ? words.clearedItself : words.clearedBy(by);
    default:
      return words.opened;
  }
}

function CommentForm({ alarm, actions }: LifeCardProps) {
  const words = useWords(alarmsWords);
  const [content, setContent] = useState('');
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault();
        if (content.trim() === '') return;
        void actions.comment(alarm, content.trim());
        setContent('');
      }}
    >
      <TextArea
        label={words.commentLabel}
        maxLength={2_000}
        rows={2}
        value={content}
        onChange={(event) => setContent(event.currentTarget.value)}
      />
      <Button needs="rule: update" type="submit" disabled={content.trim() === ''}>
        {words.addComment}
      </Button>
    </form>
  );
}
