// Routes of mailed links: accept an invitation, ask for a new password and choose it. None needs a session.
import { createRoute } from '@tanstack/react-router';
import { root, screen } from './frame.ts';

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$token',
  component: screen(() => import('../../screens/sign-in/mail-links.tsx'), 'Invitation'),
});

const forgotten = createRoute({
  getParentRoute: () => root,
  path: '/password-reset',
  component: screen(() => import('../../screens/sign-in/mail-links.tsx'), 'Forgotten'),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: '/password-reset/$token',
  component: screen(() => import('../../screens/sign-in/mail-links.tsx'), 'NewPassword'),
});

export const accessRoutes = [invitation, forgotten, newPassword] as const;
