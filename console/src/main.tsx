// Entry of the console: styles, the cache of answers, and the router on the page's root.
import './ui/fonts.css';
import './ui/tokens.css';
import './ui/base.css';
import './ui/words.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { answers } from './api/answers.ts';
import { followSystemTheme } from './ui/theme.ts';
import { connection } from './api/connection.ts';
import { ToastRegion } from './ui/toasts.tsx';
import { router } from './app/router.tsx';
import { LanguageProvider } from './words/language.tsx';

followSystemTheme();
connection.followNetwork();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no element "root"');

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={answers}>
      <LanguageProvider>
        <RouterProvider router={router} />
        <ToastRegion />
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
);
