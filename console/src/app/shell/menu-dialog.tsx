// Menu dialog: every section of the side bar, on a screen that has no room for it.
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { useWords } from '../../words/language.tsx';
import styles from './menu-dialog.module.css';
import { shellWords } from './shell-words.ts';

interface MenuDialogProps {
  readonly close: () => void;
  readonly children: ReactNode;
}

export function MenuDialog({ close, children }: MenuDialogProps) {
  const words = useWords(shellWords);
  const { pathname } = useLocation();
  const opened = useRef(pathname);
  useEffect(() => {
    if (pathname !== opened.current) close();
  }, [pathname, close]);
  return (
    <Dialog title={words.menu} close={close}>
      <nav className={styles['menu']} aria-label={words.menu}>
        {children}
      </nav>
    </Dialog>
  );
}
