// Outside frame: mark, title and form of the pages that need no session, with the sun at their right.
import { type FormEvent, type ReactNode, useEffect } from 'react';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useWords } from '../../words/language.tsx';
import { signInWords } from './sign-in-words.ts';
import styles from './sign-in.module.css';
import { discardSession } from '../../session/session.ts';

export interface OutsideFrameProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Name in the tab of the browser. */
  readonly name: string;
  /** Without it there is nothing to send. */
  readonly submit?: (given: FormData) => void;
  readonly children?: ReactNode;
}

export function OutsideFrame({ title, lead, name, submit, children }: OutsideFrameProps) {
  const words = useWords(signInWords);
  useEffect(() => {
    document.title = `${name} · Heliograph`;
  }, [name]);
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    submit?.(new FormData(event.currentTarget));
  };
  const content = (
    <>
      <img src="/sun.svg" width="36" height="36" alt="" />
      <div role="status">
        <h1>{title}</h1>
        {lead !== undefined && <p className="mute">{lead}</p>}
      </div>
      {children}
    </>
  );
  return (
    <main className={`columns ${styles['page']}`}>
      {/* Forms of dialogs cannot be inside of another one. */}
      {submit === undefined ? (
        <div className={styles['form']}>{content}</div>
      ) : (
        <form className={styles['form']} onSubmit={send}>
          {content}
        </form>
      )}
      <Sky motto={words.motto} />
    </main>
  );
}

/** What was wrong with the form as a whole. */
export function FormError({ children }: { readonly children: ReactNode }) {
  return (
    <p role="alert" className={styles['error']}>
      {children}
    </p>
  );
}

// Sky: the sun of the sign-in page, drawn from 64 rays.

const center = { x: 460, y: 330 };
const rayCount = 64;

function Sky({ motto }: { readonly motto: string }) {
  const circle = { cx: center.x, cy: center.y };
  return (
    <div className={styles['sky']} aria-hidden="true">
      <svg viewBox="0 0 920 900" preserveAspectRatio="xMidYMid slice">
        <circle {...circle} r="118" fill="#f5b83d" />
        <path d={rays} stroke="#f5b83d" strokeWidth="2" strokeLinecap="round" opacity=".55" />
        <circle {...circle} r="520" fill="none" stroke="#f5b83d" opacity=".12" />
        <circle {...circle} r="640" fill="none" stroke="#f5b83d" opacity=".07" />
      </svg>
      <p>{motto}</p>
    </div>
  );
}

const rays = Array.from({ length: rayCount }, (_, at) => {
  const angle = (at / rayCount) * Math.PI * 2;
  const from = 150 + (at % 2) * 10;
  // A fixed pattern of lengths that looks like chance.
  const to = 190 + ((at * 37) % 11) * 26;
  return `M${pointAt(angle, from)}L${pointAt(angle, to)}`;
}).join('');

function pointAt(angle: number, radius: number): string {
  const x = center.x + Math.cos(angle) * radius;
  const y = center.y + Math.sin(angle) * radius;
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
}

// Entrance: back to the page that asked for the sign-in, once a session has begun.

/** Discards the answers of another session, and leads to the page of the search parameter `to`. */
export function useEntrance(): () => Promise<void> {
  return useReturn(useSearch({ from: '/sign-in' }).to);
}

/** The same for an address that is given. */
export function useReturn(to: string | undefined): () => Promise<void> {
  const navigate = useNavigate();
  const { history } = useRouter();
  return async () => {
    discardSession();
    // An address of another site is not a way back.
    if (to?.startsWith('/') === true && !to.startsWith('//')) history.push(to);
    else await navigate({ to: '/' });
  };
}
