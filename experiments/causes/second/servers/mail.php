<?php
// Waits for a mail server that takes MAIL ms of its own, whoever else asks.
usleep((int) getenv('MAIL') * 1000);
echo "sent\n";
